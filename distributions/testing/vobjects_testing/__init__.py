# SPDX-License-Identifier: Apache-2.0
"""Tools for testing versioned types.

The pytest plugin and ``LockMixin`` check the invariants of every type in
the lock; ``emulate`` stands for an older release; ``ContractChecker`` checks
responses; and :mod:`vobjects_testing.upgrade` runs upgrades of real processes.

::

    emulation.py         ``emulate``: use the versions of an older release
    emulated_peer.py     an old peer, built from the lock alone
    invariants.py        invariants of every type at every locked version
    locked_version.py    what a peer of a locked version knows of a type
    golden_checks.py     checks primitives that releases have written
    primitive_differences.py  the first difference between two primitives
    matrix.py            every microversion with every release
    upgrade/             upgrade plans: drawn and run
    lock_checks.py       the code against a lock, and all of these checks
    mixin.py             ``LockMixin``: the same for unittest and testtools
    plugin.py            the pytest plugin: the fixture ``vobjects_invariants``
    upgrade_plugin.py    its fixture ``vobjects_upgrade``
    contract_checks.py   checks responses against the contract
    strategies.py        hypothesis strategies of instances
    matrix_command.py    `vobjects matrix`
"""

from __future__ import annotations

import pathlib

from vobjects import _lazy

#: The lock file of :func:`emulate`; the pytest plugin sets it to the file that
#: ``vobjects_lock`` in the ini file names.
default_lock = pathlib.Path('vobjects.lock')

#: Summary of the command, for ``vobjects --help``.
SUMMARIES = {'matrix': 'test every microversion with every release'}

# Imported late: pytest loads this package for its plugin, in every project.
__getattr__, __dir__ = _lazy.attributes(__name__, __file__)
