# SPDX-License-Identifier: Apache-2.0
"""The last lines of ``make test`` tell what failed and how to repeat it."""

from __future__ import annotations

import os
import pathlib
import re
import sys

import pytest
import yaml

from tests.programs import run_program

ROOT = pathlib.Path(__file__).parents[2]

#: What a program in place of make does for each part.
MAKE = """#!/bin/sh
for part; do :; done
case $part in
slow) while [ ! -e "$MARKS/quick" ]; do :; done; echo slowly ;;
quick) touch "$MARKS/quick"; echo quickly ;;
green) echo '3 passed, 1 skipped in 0.10s' ;;
red)
    echo 'FAILED tests/unit/test_a.py::test_b[x y] - assert 1 == 2'
    echo '== 1 failed, 2 passed, 1 error in 0.20s (0:00:00) =='
    exit 2 ;;
rare|never)
    echo "$PWD/bin/pytest -q tests"
    echo "FAILED tests/unit/test_$part.py::test_c - assert 1 == 2"
    echo '== 1 failed, 2 passed in 0.20s (0:00:00) =='
    exit 2 ;;
broken) echo 'no compiler'; exit 3 ;;
esac
"""


#: What a program in place of pytest does: one of the tests passes.
PYTEST = """#!/bin/sh
echo "ran $*"
case $1 in *test_rare.py*) exit 0 ;; *) exit 1 ;; esac
"""


@pytest.fixture
def run(tmp_path: pathlib.Path) -> object:
    script = tmp_path / 'tools/run-parts'
    script.parent.mkdir()
    script.write_text((ROOT / 'tools/run-parts').read_text())
    (tmp_path / 'tests').symlink_to(ROOT / 'tests')
    make = tmp_path / 'make'
    make.write_text(MAKE)
    make.chmod(0o755)
    (tmp_path / 'bin').mkdir()
    program = tmp_path / 'bin/pytest'
    program.write_text(PYTEST)
    program.chmod(0o755)

    def run_parts(*stages: str) -> tuple[int, str]:
        done = run_program(
            [sys.executable, str(script), *stages],
            env={
                **os.environ,
                'MARKS': str(tmp_path),
                'PATH': f'{tmp_path}:{os.environ["PATH"]}',
            },
        )
        return done.returncode, done.stdout

    return run_parts


def test_parts_of_a_stage_run_at_once_and_print_one_after_the_other(run):
    code, output = run('slow+quick', 'green')

    assert code == 0
    assert '== slow\nslowly\n== quick\nquickly\n== green\n' in output
    assert output.splitlines()[-1].startswith('3 passed, 0 failed, 1 skipped')


def test_parts_of_a_lane_run_one_after_the_other(run):
    code, output = run('slow+quick,green')

    assert code == 0
    assert '== slow\nslowly\n== quick\nquickly\n== green\n' in output
    assert run('red', '/', 'slow+quick,green')[1].count('did not run') == 3


def test_failure_names_the_test_its_command_and_its_log(run):
    code, output = run('red', 'broken', '/', 'green')

    assert code == 1
    end = output[output.index('\nFAILED: red') :]
    assert 'see .test-logs/red.log' in end
    assert "  .venv/bin/pytest 'tests/unit/test_a.py::test_b[x y]'" in end
    assert '  | no compiler\n  make broken\n' in end
    assert end.splitlines()[-1].startswith('2 passed, 2 failed in ')
    assert output.count('did not run') == 1
    assert '== green' not in output


def test_failed_test_that_passes_again_is_unsteady(run):
    code, output = run('--again', '1', 'rare', '/', 'green')

    assert code == 0
    assert '== once more: tests/unit/test_rare.py::test_c\n' in output
    assert '1 UNSTEADY\n' in output
    assert 'UNSTEADY: tests/unit/test_rare.py::test_c failed once' in output
    assert output.splitlines()[-1].startswith('5 passed, 1 failed')


@pytest.mark.parametrize(
    'arguments',
    [
        ('--again', '1', 'never', '/', 'green'),
        ('--again', '1', 'rare', 'rare', '/', 'green'),
        ('--again', '1', 'broken', '/', 'green'),
        ('--again', '0', 'rare', '/', 'green'),
        ('rare', '/', 'green'),
    ],
)
def test_other_failures_remain(run, arguments):
    code, output = run(*arguments)

    assert code == 1
    assert 'FAILED: ' in output
    assert 'did not run' in output


@pytest.mark.parametrize('arguments', [(), ('--again', '1')])
def test_without_stages_is_an_error(run, arguments):
    assert run(*arguments)[0] == 2


def test_nightly_workflow_runs_each_long_part():
    makefile = (ROOT / 'Makefile').read_text().replace('\\\n', '')
    stages = re.search(r'^LONG_STAGES := .* / (.*)$', makefile, re.MULTILINE)
    workflow = yaml.safe_load(
        (ROOT / '.github/workflows/nightly.yaml').read_text()
    )
    parts = workflow['jobs']['long']['strategy']['matrix']['part']
    assert parts == stages[1].split()
