# SPDX-License-Identifier: Apache-2.0
"""Run senlin-tempest-plugin, and return the outcome of each test."""

from __future__ import annotations

import dataclasses
import pathlib

from ports import __main__ as ports
from ports.senlin import PORT
from tests import downloads
from tests.clients import __main__ as clients
from tests.clients import results, suites, testbed
from tests.functional import keystone
from tests.ports.senlin import service

#: The tests that Senlin's CI runs with canned clouds; the others need Nova.
TESTS = r'senlin_tempest_plugin\.tests\.(api|functional)\.'

#: Packages that Senlin needs as they were in its time: with newer ones, its
#: processes keep a connection after many an action, until none is left.
_OLD = ('oslo.db', 'PyMySQL', 'SQLAlchemy')
_VERSIONS = dict(
    line.split('==')
    for line in (downloads.ROOT / 'benchmarks' / 'senlin-constraints.txt')
    .read_text()
    .splitlines()
    if '==' in line
)

_PORT = dataclasses.replace(
    PORT,
    requirements=(
        *PORT.requirements,
        *(f'{name}=={_VERSIONS[name]}' for name in _OLD),
    ),
)


def run(
    folder: pathlib.Path, *, edited: bool, only: str = TESTS, workers: int = 2
) -> dict[str, str]:
    """Run the tests against a new Senlin, and those that fail again.

    :param only: regular expression of the names of tests
    :returns: name of each test -> ``success``, ``skip`` or ``fail``
    """
    root = folder / 'root'
    python = ports.prepare(_PORT, ports.DEFAULT_CACHE, root, edit=edited)
    source = ports.source(_PORT, ports.DEFAULT_CACHE)
    paste = source / 'etc' / 'senlin' / 'api-paste.ini'
    (suite,) = (
        each for each in suites.load() if each.name == 'senlin-tempest-plugin'
    )
    environment = suites.install(suite)
    home = folder / 'home'
    home.mkdir()
    found: list[results.Result] = []
    with (
        keystone.running(folder) as identity,
        service.running(home, python, root, paste, identity.url) as url,
    ):
        identity.add_endpoint(url)
        variables = testbed.configure(
            identity, suite, environment, folder, workers
        )
        clients.Launcher(suite, environment, folder, workers, variables).run(
            found, only
        )
    return {result.test: result for result in found}
