# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C at any time after Python has started.

Python names each imported module on standard error. The tests send the signal
after a number of these lines, so that it does not depend on the speed of the
machine which modules are imported.
"""

from __future__ import annotations

import pathlib
import signal
import subprocess
import sys

import pytest

from tests import machine_speed

#: The first module that is imported after the first statement of the program.
#: Before that, Python itself prints a traceback.
FIRST_IMPORT = 'vobjects.cli'

#: Modules that these commands import later: about 100 and 500.
COMMANDS = (('--help',), ('lock', 'check', '--file', 'no-such.lock'))

PROGRAMS = {
    'module': ('-m', 'vobjects'),
    'script': (str(pathlib.Path(sys.executable).with_name('vobjects')),),
}


def interrupted(
    program: str, command: tuple[str, ...], imports: int, **options: object
) -> tuple[int, list[str]]:
    """Send SIGINT to a command while it imports modules.

    :param imports: number of modules that are imported before the signal
    :param options: further arguments of :class:`subprocess.Popen`
    :returns: the exit code, and the lines on standard error
    """
    process = subprocess.Popen(
        [sys.executable, '-X', 'importtime', *PROGRAMS[program], *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        # The command waits for its reader, so that it does not end too early.
        pipesize=4096,
        **options,
    )
    assert process.stderr is not None
    modules: list[str] = []
    for line in process.stderr:
        modules.append(line.rpartition('|')[2].strip())
        if (
            FIRST_IMPORT in modules
            and len(modules) - modules.index(FIRST_IMPORT) > imports
        ):
            break
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=60 * machine_speed.scale())
    lines = [
        line
        for line in rest.splitlines()
        if not line.startswith('import time:')
    ]
    return process.returncode, lines


@pytest.mark.parametrize(
    ('program', 'command', 'imports'),
    [
        *(('module', COMMANDS[0], imports) for imports in (0, 10, 30, 60)),
        *(('script', COMMANDS[0], imports) for imports in (0, 60)),
        *(('module', COMMANDS[1], imports) for imports in (100, 300)),
        *(('script', COMMANDS[1], imports) for imports in (200, 400)),
    ],
)
def test_command_when_interrupted_while_importing_prints_no_traceback(
    program: str, command: tuple[str, ...], imports: int
) -> None:
    code, lines = interrupted(
        program,
        command,
        imports,
        # A shell that starts the tests in the background ignores the signal.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert lines == []
    assert code in (130, -signal.SIGINT)


def test_command_in_the_background_ignores_ctrl_c() -> None:
    code, lines = interrupted(
        'module',
        ('--help',),
        0,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    assert lines == []
    assert code == 0
