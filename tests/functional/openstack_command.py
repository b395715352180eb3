# SPDX-License-Identifier: Apache-2.0
"""Runs ``openstack cluster ...`` commands, many in one process."""

from __future__ import annotations

import importlib.metadata
import json
import os
import pathlib
import re
import subprocess
import sys
from typing import Any, Self

from tests.functional import openstack_shell
from tests.functional.deployments import Deployment
from tests.functional.processes import GROUP_VARIABLE, kill_with_parent

COMMANDS = {
    point.name.replace('_', ' ')
    for point in importlib.metadata.entry_points(
        group='openstack.clustering.v1'
    )
}

#: Stands in for ssh: nothing that tests start may leave this machine.
SSH = '#!/bin/sh\necho "told: $*"\n'

_ACTION = re.compile(r'by action:? ([0-9a-f-]{36})')


class Osc:
    """The ``openstack`` command; use it in a ``with`` statement.

    :param directory: its home, where files can be put
    :ivar run: the commands that were run
    """

    def __init__(self, service: Deployment, directory: pathlib.Path) -> None:
        self.run: set[str] = set()
        self._directory = directory
        self._rest = service.rest()
        tools = directory / 'bin'
        tools.mkdir()
        (tools / 'ssh').write_text(SSH)
        (tools / 'ssh').chmod(0o755)
        self._process = subprocess.Popen(
            kill_with_parent(
                [sys.executable, '-W', 'ignore', str(openstack_shell.__file__)]
            ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={
                'HOME': str(directory),
                'PATH': f'{tools}:{os.environ["PATH"]}',
                'OS_AUTH_TYPE': 'none',
                'OS_ENDPOINT': service.url,
                GROUP_VARIABLE: service.group.id,
            },
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        with self._rest:
            self._process.communicate()

    def __call__(self, *words: str, code: int = 0, says: str = '') -> str:
        """Return what a command below ``openstack cluster`` prints.

        :param code: the exit code that it must have
        :param says: must be in what it prints
        """
        line = ['cluster', *words]
        names = [' '.join(line[:count]) for count in range(5, 1, -1)]
        self.run.add(next(name for name in names if name in COMMANDS))
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(line) + '\n')
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        said: str = answer['out'] + answer['err']
        assert answer['code'] == code, f'{line}: {answer["code"]}\n{said}'
        assert says in said, f'{line}: {said}'
        return said

    def show(self, *words: str) -> Any:
        """Return what a command prints, as JSON."""
        return json.loads(self(*words, '-f', 'json'))

    def done(self, *words: str, code: int = 0) -> str:
        """Wait until the actions that a command starts have succeeded."""
        said = self(*words, code=code)
        actions = _ACTION.findall(said)
        assert actions, said
        for action in actions:
            self._rest.wait_for_success(action)
        return said

    def file(self, name: str, content: Any) -> str:
        """Return the path of a file with JSON, which is YAML."""
        path = self._directory / name
        path.write_text(json.dumps(content))
        return str(path)
