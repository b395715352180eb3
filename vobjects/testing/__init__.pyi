# SPDX-License-Identifier: Apache-2.0

import pathlib

from vobjects.testing.contract_checks import ContractChecker as ContractChecker
from vobjects.testing.emulation import emulate as emulate
from vobjects.testing.mixin import LockMixin as LockMixin
from vobjects.testing.strategies import instances as instances

default_lock: pathlib.Path
