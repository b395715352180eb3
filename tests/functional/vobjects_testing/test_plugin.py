# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin, run by a separate pytest."""

from __future__ import annotations

import pathlib
import sys

from tests import machine_speed
from tests.programs import run_program
from tests.unit.vobjects.cli.test_lock import FIRST, SECOND

#: Other plug-ins; some take a second to load.
OTHER_PLUGINS = (
    'anyio',
    'cacheprovider',
    'hypothesispytest',
    'schemathesis',
    'timeout',
    'xdist',
    'xdist.looponfail',
)
QUIET = (
    'pytest',
    '-q',
    *(word for n in OTHER_PLUGINS for word in ('-p', f'no:{n}')),
)


def run(directory: pathlib.Path, *words: str) -> str:
    result = run_program(
        [sys.executable, '-m', *words],
        cwd=directory,
        timeout=240 * machine_speed.scale(),
    )
    return result.stdout + result.stderr


def test_invariants_fixture_checks_each_type_and_release(
    tmp_path: pathlib.Path,
) -> None:
    module = tmp_path / 'shop.py'
    module.write_text(FIRST)
    (tmp_path / 'pytest.ini').write_text(
        '[pytest]\nvobjects_invariants_examples = 2\n'
    )
    (tmp_path / 'test_shop.py').write_text(
        'def test_invariants(vobjects_invariants):\n'
        '    vobjects_invariants()\n'
    )
    assert 'does not exist' in run(tmp_path, *QUIET)
    cli = 'vobjects'
    run(tmp_path, cli, 'lock', 'init', '--import', 'shop:register_all')
    run(tmp_path, cli, 'lock', 'release', '1')
    module.write_text(SECOND)
    run(tmp_path, cli, 'lock', 'update')

    stdout = run(tmp_path, *QUIET, '-vv')
    for case in ('Order-1.0', 'Order-1.1', 'golden-1'):
        assert f'test_invariants[{case}] PASSED' in stdout
    assert '3 passed' in stdout


def test_emulate_when_the_ini_file_names_a_lock_reads_it(
    tmp_path: pathlib.Path,
) -> None:
    (tmp_path / 'shop.py').write_text(FIRST)
    (tmp_path / 'locks').mkdir()
    (tmp_path / 'tests').mkdir()
    (tmp_path / 'pytest.ini').write_text(
        '[pytest]\npythonpath = .\nvobjects_lock = locks/shop.lock\n'
    )
    (tmp_path / 'tests' / 'test_shop.py').write_text(
        'import shop\n'
        'from vobjects_testing import emulate\n\n\n'
        'def test_release():\n'
        '    shop.register_all()\n'
        "    with emulate('1') as peer:\n"
        "        assert peer.manifest == {'Order': '1.0'}\n"
    )
    file = ('--file', 'locks/shop.lock')
    register = ('--import', 'shop:register_all')
    run(tmp_path, 'vobjects', 'lock', 'init', *file, *register)
    run(tmp_path, 'vobjects', 'lock', 'release', '1', *file)

    stdout = run(tmp_path, *QUIET, 'tests')

    assert '1 passed' in stdout


PLAN = """
import contextlib

from vobjects_testing import upgrade

CONFIG = upgrade.PlanConfig(
    (upgrade.Process('a', ('1', '2')), upgrade.Process('b', ('1', '2')))
)


class Fleet(upgrade.Fleet):
    def start(self, process, release):
        pass

    def stop(self, process):
        pass

    def kill(self, process):
        {kill}

    def pause(self, process, seconds):
        pass


@contextlib.contextmanager
def open_fleet():
    yield Fleet()


def test_upgrade(vobjects_upgrade):
    vobjects_upgrade(CONFIG, open_fleet)
"""


def test_upgrade_fixture_prints_the_plan_of_each_seed(
    tmp_path: pathlib.Path,
) -> None:
    (tmp_path / 'test_plan.py').write_text(PLAN.format(kill='pass'))
    stdout = run(tmp_path, *QUIET, '-rA')
    assert 'test_upgrade[seed-1]' in stdout
    assert 'upgrade plan, seed 1, 10 steps: ok' in stdout

    stdout = run(
        tmp_path,
        *QUIET,
        '-rA',
        *('--upgrade-seed=7', '--upgrade-seed=8', '--upgrade-steps=3'),
    )
    assert '2 passed' in stdout
    for seed in (7, 8):
        assert f'upgrade plan, seed {seed}, 3 steps: ok' in stdout


def test_upgrade_fixture_when_plan_fails_prints_how_to_reproduce(
    tmp_path: pathlib.Path,
) -> None:
    (tmp_path / 'test_plan.py').write_text(
        PLAN.format(kill="raise OSError('cannot kill')")
    )

    stdout = run(tmp_path, *QUIET, '--upgrade-steps=12')
    assert 'seed 1, 12 steps: FAILED' in stdout
    assert 'OSError: cannot kill' in stdout
    *_, command = [
        line.partition('reproduce with: ')[2]
        for line in stdout.splitlines()
        if 'reproduce with' in line
    ]
    program, test, *options = command.split()
    assert (program, test) == ('pytest', 'test_plan.py::test_upgrade')

    stdout = run(tmp_path, *QUIET, test, *options)
    assert 'seed 1, 12 steps: FAILED' in stdout


def test_upgrade_option_when_not_a_number_is_rejected(
    tmp_path: pathlib.Path,
) -> None:
    (tmp_path / 'test_plan.py').write_text(PLAN.format(kill='pass'))

    for steps in ('0', 'x'):
        stdout = run(tmp_path, *QUIET, f'--upgrade-steps={steps}')
        assert 'argument --upgrade-steps' in stdout
        assert 'Traceback' not in stdout
