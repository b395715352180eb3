# SPDX-License-Identifier: Apache-2.0
"""Press Tab in real shells, with the scripts of ``vobjects completion``."""

from __future__ import annotations

import importlib.metadata
import os
import pathlib
import sys

import pytest

from tests import machine_speed, requirements
from tests.programs import run_program

ROOT = pathlib.Path(__file__).parents[4]
PROGRAMS = pathlib.Path(sys.executable).parent
RELEASE = importlib.metadata.version('vobjects')

#: Shell -> (file below the user's home directory, its lines).
START_FILES = {
    'bash': ('.bashrc', 'eval "$(vobjects completion bash)"'),
    'zsh': (
        '.zshrc',
        'autoload -Uz compinit\n'
        'compinit -u\n'
        'eval "$(vobjects completion zsh)"',
    ),
    'fish': (
        '.config/fish/config.fish',
        'vobjects completion fish > ~/.config/fish/completions/vobjects.fish',
    ),
}

#: What the user types -> part of the output of the completed command, which
#: is not in the command itself.
TYPED = {
    'vobjects --vers\t': f'vobjects {RELEASE}',
    'vobjects compl\tfi\t': 'function __fish_vobjects_complete',
    'vobjects lock che\t--fi\tno-such.lock': 'no-such.lock does not exist',
    # Types of the recorded releases, which the command itself looks up.
    'vobjects history ClusterDelete\t': 'ClusterDeleteRequest 1.1',
}


def typed(shell: str, text: str, home: pathlib.Path) -> str:
    """Type a line in a shell on a terminal, and return what it shows."""
    result = run_program(
        ['script', '--quiet', '--command', f'{shell} -i', os.devnull],
        input=f'{text}\nexit\n',
        cwd=ROOT,
        env={
            'HOME': str(home),
            'PATH': f'{PROGRAMS}:{os.environ["PATH"]}',
            'TERM': 'dumb',
            'LC_ALL': 'C.UTF-8',
        },
        timeout=120 * machine_speed.scale(),
    )
    return result.stdout


@pytest.mark.parametrize('shell', START_FILES)
def test_tab_completes_words_in_a_shell(
    shell: str, tmp_path: pathlib.Path
) -> None:
    requirements.programs('script', shell)
    name, lines = START_FILES[shell]
    file = tmp_path / name
    (file.parent / 'completions').mkdir(parents=True)
    file.write_text(lines + '\n')
    for text, expected in TYPED.items():
        assert expected in typed(shell, text, tmp_path)
