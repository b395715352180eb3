# SPDX-License-Identifier: Apache-2.0
"""Run ``openstack cluster ...`` commands in one child process.

The process runs :mod:`tests.functional.openstack_shell`.
"""

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

#: All commands of python-senlinclient.
COMMANDS = {
    point.name.replace('_', ' ')
    for point in importlib.metadata.entry_points(
        group='openstack.clustering.v1'
    )
}

#: Replaces ssh, so that tests connect to no other host.
SSH = '#!/bin/sh\necho "ssh: $*"\n'

_ACTION = re.compile(r'by action:? ([0-9a-f-]{36})')


class OpenStackCommand:
    """The ``openstack`` command; use it in a ``with`` statement.

    :param directory: home directory of the process
    :ivar used: names of the commands that have run
    """

    def __init__(self, service: Deployment, directory: pathlib.Path) -> None:
        self.used: set[str] = set()
        self._directory = directory
        self._rest = service.rest()
        programs = directory / 'bin'
        programs.mkdir()
        (programs / 'ssh').write_text(SSH)
        (programs / 'ssh').chmod(0o755)
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
                'PATH': f'{programs}:{os.environ["PATH"]}',
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

    def __call__(self, *words: str, code: int = 0, contains: str = '') -> str:
        """Run a command below ``openstack cluster``; return its output.

        :param code: expected exit code
        :param contains: text that the output must contain
        """
        command = ['cluster', *words]
        names = [' '.join(command[:count]) for count in range(5, 1, -1)]
        self.used.add(next(name for name in names if name in COMMANDS))
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(command) + '\n')
        self._process.stdin.flush()
        result = json.loads(self._process.stdout.readline())
        output: str = result['out'] + result['err']
        assert result['code'] == code, f'{command}: {result["code"]}\n{output}'
        assert contains in output, f'{command}: {output}'
        return output

    def show(self, *words: str) -> Any:
        """Return the JSON output of a command."""
        return json.loads(self(*words, '-f', 'json'))

    def run_actions(self, *words: str, code: int = 0) -> str:
        """Run a command and wait until the actions it starts succeed."""
        output = self(*words, code=code)
        actions = _ACTION.findall(output)
        assert actions, output
        for action in actions:
            self._rest.wait_for_success(action)
        return output

    def write_file(self, name: str, content: Any) -> str:
        """Write JSON (which is YAML) to a file and return its path."""
        path = self._directory / name
        path.write_text(json.dumps(content))
        return str(path)
