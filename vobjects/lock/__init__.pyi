# SPDX-License-Identifier: Apache-2.0

from vobjects.lock.model import Lock as Lock
from vobjects.lock.model import LockError as LockError
from vobjects.lock.parse import load as load
