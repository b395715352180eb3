# SPDX-License-Identifier: Apache-2.0
"""Type checkers know annotated types, and the operations of clients."""

from __future__ import annotations

import json
import pathlib
import sys

import pytest
from mypy import api

import vobjects
from tests.programs import run_program

ROOT = pathlib.Path(vobjects.__path__[0]).parent
SAMPLES = pathlib.Path(__file__).parent / 'typed_samples'

#: File name and number of each line with an error.
Lines = set[tuple[str, int]]


def expected_errors() -> Lines:
    """Return the lines that end with the word error."""
    return {
        (path.name, number)
        for path in SAMPLES.iterdir()
        if path.suffix == '.py'
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if line.endswith('# error')
    }


def mypy_errors(folder: pathlib.Path) -> Lines:
    """Return the lines with errors of mypy, which has no plug-in."""
    config = folder / 'mypy.ini'
    config.write_text(
        '[mypy]\nstrict = true\nignore_missing_imports = true\n'
        f'mypy_path = {ROOT}\ncache_dir = {folder}/cache\n'
        'follow_imports = silent\n'
    )
    out, err, _ = api.run(
        ['--config-file', str(config), '--output', 'json', str(SAMPLES)]
    )
    assert err == ''
    return {
        (pathlib.Path(message['file']).name, message['line'])
        for message in map(json.loads, out.splitlines())
        if message['severity'] == 'error'
    }


def pyright_errors(folder: pathlib.Path) -> Lines:
    """Return the lines with errors of pyright in its strict mode."""
    config = folder / 'pyrightconfig.json'
    config.write_text(
        json.dumps(
            {
                'typeCheckingMode': 'strict',
                'extraPaths': [str(ROOT)],
                'include': [str(SAMPLES)],
            }
        )
    )
    program = pathlib.Path(sys.executable).with_name('basedpyright')
    result = run_program(
        [
            program,
            '--outputjson',
            '--pythonpath',
            sys.executable,
            '--project',
            config,
        ]
    )
    messages = json.loads(result.stdout)['generalDiagnostics']
    return {
        (
            pathlib.Path(message['file']).name,
            message['range']['start']['line'] + 1,
        )
        for message in messages
        if message['severity'] == 'error'
    }


@pytest.mark.parametrize('errors', [mypy_errors, pyright_errors])
def test_checkers_report_each_error_and_nothing_else(errors, tmp_path):
    assert errors(tmp_path) == expected_errors()
