# SPDX-License-Identifier: Apache-2.0
"""Tools for testing versioned types.

::

    emulation.py         ``emulate``: use the versions of an older release
    emulated_peer.py     an old peer, built from the lock alone
    invariants.py        invariants of every type at every locked version
    locked_version.py    what a peer of a locked version knows of a type
    golden_checks.py     checks primitives that releases have written
    primitive_differences.py  the first difference between two primitives
    matrix.py            every microversion with every release
    matrix_page.py       the matrix as an HTML page
    cross_release.py     transfers objects between two installed releases
    transfer_script.py   one side of a transfer, in its own environment
    upgrade/             upgrade plans: drawn, run and shrunk
    lock_checks.py       the code against a lock, and all of these checks
    mixin.py             ``LockMixin``: the same for unittest and testtools
    plugin.py            the pytest plugin: the fixture ``vobjects_invariants``
    upgrade_plugin.py    its fixture ``vobjects_upgrade``
    contract_checks.py   checks responses against the contract
    strategies.py        hypothesis strategies of instances
    comparison.py        the differences between an object and expected values
    client_version.py    ``set_version``: the microversion of a test client
    api_sig.py           the documents of the API-SIG guidelines
"""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vobjects.testing.emulation import emulate

__all__ = ['default_lock', 'emulate']

#: The lock file of :func:`emulate`; the pytest plugin sets it to the file that
#: ``vobjects_lock`` in the ini file names.
default_lock = pathlib.Path('vobjects.lock')


def __getattr__(name: str) -> Any:
    # Imported late: pytest loads this package for its plugin, in every
    # project.
    if name == 'emulate':
        from vobjects.testing.emulation import emulate

        return emulate
    raise AttributeError(name)
