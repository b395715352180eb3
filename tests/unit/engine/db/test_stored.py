# SPDX-License-Identifier: Apache-2.0
"""The commands that count stored objects, on the tables of the engine."""

from __future__ import annotations

import json
import pathlib
import tempfile
from collections.abc import Iterator

import pytest
import sqlalchemy

from engine.db import database, migrations, models
from tests import crafted_files
from tests.unit.engine.conftest import configuration
from vobjects.cli import main
from vobjects.clustering.requests import clusters
from vobjects_sql.stored import StoredText


@pytest.fixture
def config() -> Iterator[str]:
    """A configuration file for an engine that does not run."""
    # Its path is short, because the directory has sockets.
    with tempfile.TemporaryDirectory(prefix='vo-') as home:
        url = f'sqlite:///{home}/engine.sqlite'
        path = pathlib.Path(home, 'engine.conf')
        path.write_text(
            f'[DEFAULT]\ntransport_url = embedded://{home}/rpc\n'
            f'[database]\nconnection = {url}\n'
        )
        target = database.Database(configuration(url))
        migrations.expand(target)
        store(target, 'READY', '1.0')
        yield str(path)
        target.close()


def store(target: database.Database, status: str, version: str) -> None:
    """Store an action whose inputs have a version."""
    request = clusters.ClusterDeleteRequest(identity='c')
    inputs = str(StoredText.of(request, {'ClusterDeleteRequest': '1.0'}))
    with target.writer() as session:
        session.add(
            models.Action(
                id=models.new_id(),
                name='delete',
                action='CLUSTER_DELETE',
                target='c',
                cause='RPC Request',
                timeout=60,
                status=status,
                inputs=StoredText(inputs.replace('1.0', version)),
                outputs={},
                data={},
                user='u',
                project='p',
                domain='d',
            )
        )


def run(
    *arguments: str, capsys: pytest.CaptureFixture[str]
) -> tuple[int, str]:
    code = main.main([*arguments, '--service', 'clustering'])
    return code, capsys.readouterr().out


def stored(config: str, status: str, version: str) -> None:
    url = f'sqlite:///{pathlib.Path(config).parent}/engine.sqlite'
    target = database.Database(configuration(url))
    store(target, status, version)
    target.close()


def test_scan_counts_the_inputs_of_unfinished_actions(
    config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    stored(config, 'SUCCEEDED', '1.9')
    stored(config, 'WAITING', '1.1')
    arguments = ['stored', 'scan', f'--config-file={config}']
    code, out = run(*arguments, capsys=capsys)
    assert code == 0
    assert [line.split() for line in out.splitlines()] == [
        ['COLUMN', 'VERSIONS', 'ROWS'],
        ['actions.inputs', 'ClusterDeleteRequest', '1.0', '1'],
        ['actions.inputs', 'ClusterDeleteRequest', '1.1', '1'],
    ]
    code, out = run(*arguments, '-o', 'json', capsys=capsys)
    assert [count['rows'] for count in json.loads(out)[0]['counts']] == [1, 1]


def test_scan_of_a_file_whose_view_calls_a_function_fails(
    config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = pathlib.Path(config).parent / 'engine.sqlite'
    crafted_files.add_view(file, 'actions')

    code = main.main(
        ['stored', 'scan', f'--config-file={config}', '--service=clustering']
    )

    assert code == 2
    assert crafted_files.REJECTED in capsys.readouterr().err


def test_write_to_a_file_whose_trigger_calls_a_function_fails(
    config: str,
) -> None:
    file = pathlib.Path(config).parent / 'engine.sqlite'
    crafted_files.add_trigger(file, 'actions')
    target = database.Database(configuration(f'sqlite:///{file}'))

    with (
        pytest.raises(Exception, match=crafted_files.REJECTED),
        target.writer() as session,
    ):
        session.execute(sqlalchemy.update(models.Action).values(name='other'))
    target.close()


def test_can_roll_back_names_the_rows_in_the_way(
    config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ['fleet', 'can-roll-back', '0.1.0', f'--config-file={config}']
    assert run(*arguments, capsys=capsys) == (0, 'roll back to 0.1.0: yes\n')
    stored(config, 'READY', '1.9')
    code, out = run(*arguments, capsys=capsys)
    assert code == 1
    assert out.startswith(
        'roll back to 0.1.0: no\n'
        'actions.inputs: 1 with ClusterDeleteRequest 1.9 (at most 1.1); for'
    )
    code, out = run(*arguments, '--limit=1', '-o', 'json', capsys=capsys)
    answer = json.loads(out)
    assert code == 1
    assert answer['not_read'][0].startswith('rows of actions.inputs before id')


@pytest.mark.parametrize(
    ('arguments', 'error_text'),
    [
        (['fleet', 'can-roll-back', '9.9'], "no release '9.9'"),
        (['stored', 'scan', '--limit', '0'], "'0' is not"),
        (['stored', 'scan', '--database', 'x'], 'URL is malformed'),
        (['stored', 'scan', '--database', 'sqlite:////no'], 'does not exist'),
        (['stored', 'scan', '--database', 'nosql://h/n'], 'cannot be read'),
    ],
)
def test_command_when_input_is_bad_then_exits_2(
    config: str,
    arguments: list[str],
    error_text: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    line = [*arguments, f'--config-file={config}', '--service=clustering']
    try:
        code = main.main(line)
    except SystemExit as ended:
        code = ended.code
    assert code == 2
    assert error_text in capsys.readouterr().err
