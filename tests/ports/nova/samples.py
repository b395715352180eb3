# SPDX-License-Identifier: Apache-2.0
"""Run Nova's tests of its API samples, and return the outcome of each.

Each test starts an API, a conductor, a scheduler, a fake hypervisor, Placement
and their databases in its process. It sends the request of a sample, and
compares the response with that of the sample.
"""

from __future__ import annotations

import dataclasses
import io
import pathlib
import subprocess
from collections.abc import Iterable, Sequence

from ports import __main__ as ports
from ports.nova import PORT
from tests.clients import results

_FOLDER = 'nova/tests/functional/api_sample_tests'

_PORT = dataclasses.replace(
    PORT,
    requirements=(
        *PORT.requirements,
        'openstack-placement',
        # 2.1 warns of noload(), and Nova's tests make an error of the warning.
        'SQLAlchemy<2.1',
    ),
    stestr_folder=_FOLDER,
    source_folders=(*PORT.source_folders, 'etc'),
)


def run(
    folder: pathlib.Path, *, edited: bool, modules: Sequence[str] = ()
) -> dict[str, str]:
    """Run the tests, and those that fail again, one at a time.

    Some of them wait for at most five seconds, which a busy machine exceeds.

    :param modules: names such as ``test_keypairs``; empty: all
    :returns: name of each test -> ``success``, ``skip`` or ``fail``
    """
    root = folder / 'root'
    python = ports.prepare(_PORT, ports.DEFAULT_CACHE, root, edit=edited)
    ports.add_sources(_PORT, ports.DEFAULT_CACHE, root)
    tests = tuple(f'{_FOLDER}/{module}.py' for module in modules)
    port = dataclasses.replace(_PORT, tests=tests or (_FOLDER,))
    outcomes = _run(python, root, ports.stestr(port, root))
    failed = [name for name in outcomes if outcomes[name] == 'fail']
    if failed:
        again = folder / 'failed'
        again.write_text(''.join(f'{name}\n' for name in _loaded(failed)))
        command = ['stestr', 'run', '--serial', f'--load-list={again}']
        outcomes.update(_run(python, root, command))
    return outcomes


def _run(
    python: str, root: pathlib.Path, command: Sequence[str]
) -> dict[str, str]:
    """Run stestr, and return the outcomes."""
    environment = ports.environment(python, root)
    subprocess.run(command, cwd=root, env=environment, check=False)
    last = subprocess.run(
        ['stestr', 'last', '--subunit'],
        cwd=root,
        env=environment,
        capture_output=True,
        check=False,
    )
    found: list[results.Result] = []
    results.read(io.BytesIO(last.stdout), found.append)
    return {result.test: result.status for result in found}


def _loaded(names: Iterable[str]) -> set[str]:
    """Return the names by which stestr loads tests: without the scenario."""
    return {name.partition('(')[0] for name in names}
