# SPDX-License-Identifier: Apache-2.0

import pathlib

from vobjects_testing.contract_checks import ContractChecker as ContractChecker
from vobjects_testing.emulation import emulate as emulate
from vobjects_testing.mixin import LockMixin as LockMixin
from vobjects_testing.strategies import instances as instances

default_lock: pathlib.Path
SUMMARIES: dict[str, str]
