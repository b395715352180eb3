# SPDX-License-Identifier: Apache-2.0
"""The description of a port."""

from __future__ import annotations

import dataclasses
import pathlib

from ports.editing import Edit

_REPOSITORY = pathlib.Path(__file__).resolve().parent.parent


@dataclasses.dataclass(frozen=True)
class Port:
    """A service, the edits that put it on the library, and its tests.

    :ivar name: name of the service, its distribution and its package
    :ivar edits: edits of the package
    :ivar tests: folders or files of the service's tests
    :ivar replaced_tests: those that test the machinery that the edits remove;
        ``PATH`` or ``PATH::CLASS``
    :ivar broken_tests: modules that cannot be imported in the environment,
        with the edits or without
    :ivar processes: processes of pytest; 0: without xdist
    :ivar requirements: further requirements of the tests
    :ivar stestr_folder: folder in which stestr finds the tests, if pytest
        cannot run them
    :ivar empty_folders: folders that the tests expect beside the package
    :ivar source_folders: folders of the source distribution that the tests
        expect beside the package
    """

    name: str
    release: str
    edits: tuple[Edit, ...]
    tests: tuple[str, ...]
    replaced_tests: tuple[str, ...]
    broken_tests: tuple[str, ...] = ()
    processes: int = 2
    requirements: tuple[str, ...] = ()
    stestr_folder: str = ''
    empty_folders: tuple[str, ...] = ()
    source_folders: tuple[str, ...] = ()


def search_path(folder: pathlib.Path) -> str:
    """Return the search path of processes that import packages of a folder.

    The library is that of this working tree.
    """
    parts = [
        _REPOSITORY / 'distributions' / name
        for name in ('client', 'contract', 'sql', 'testing')
    ]
    return ':'.join(map(str, [folder, _REPOSITORY, *parts]))
