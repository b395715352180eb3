# SPDX-License-Identifier: Apache-2.0
"""Magnum's objects match the lock of the release, and keep the invariants."""

import pathlib

from magnum.tests import base

from vobjects_testing import mixin


class TestLock(mixin.LockMixin, base.TestCase):
    lock = pathlib.Path(__file__).parents[1] / 'vobjects.lock'
