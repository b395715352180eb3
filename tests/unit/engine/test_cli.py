# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import base64
import logging
import os
import pathlib
import sys
import tempfile
from collections.abc import Iterator

import pytest

from engine import cli, service
from engine.db import database, migrations, schema_phase
from tests.unit.engine.db import chains, old_rows
from vobjects import exceptions
from vobjects.cli import main


@pytest.fixture
def home() -> Iterator[pathlib.Path]:
    """A directory with a short path: it will have sockets."""
    with tempfile.TemporaryDirectory(prefix='vo-') as directory:
        yield pathlib.Path(directory)


@pytest.fixture
def config(home: pathlib.Path) -> Iterator[str]:
    """A configuration file; changes of the logging are undone."""
    root = logging.getLogger()
    handlers, level, hook = list(root.handlers), root.level, sys.excepthook
    path = home / 'engine.conf'
    path.write_text(
        '[DEFAULT]\n'
        f'transport_url = embedded://{home}/rpc\n'
        '[database]\n'
        f'connection = sqlite:///{home}/engine.sqlite\n'
    )
    yield str(path)
    root.handlers[:], sys.excepthook = handlers, hook
    root.setLevel(level)


@pytest.mark.parametrize(
    ('words', 'code'),
    [
        ('db check', schema_phase.Phase.EXPAND.value),
        ('db contract', 1),
        ('db purge --older-than=1d', 1),
        ('queue show q', 1),
        ('engine', 2),
        ('config check --connect=database', 0),
    ],
)
def test_command_that_does_not_create_leaves_no_database(
    config: str, home: pathlib.Path, words: str, code: int
) -> None:
    assert main.main([*words.split(), f'--config-file={config}']) == code
    assert [path.name for path in home.iterdir() if path.is_file()] == [
        'engine.conf'
    ]


@pytest.mark.parametrize(
    'words', ['db check', 'db expand', 'db sync', 'queue show q']
)
def test_command_without_configuration_names_the_searched_files(
    home: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: str,
) -> None:
    monkeypatch.setenv('HOME', str(home))
    monkeypatch.chdir(home)
    assert main.main(words.split()) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert '[database] connection is not set' in line
    assert 'looked in ~/.vobjects, ~, /etc/vobjects and /etc' in line
    assert '--config-file' in line
    assert list(home.iterdir()) == []


def test_configuration_that_is_a_directory_is_bad_input(
    home: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(['db', 'check', f'--config-file={home}']) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f'{home} is a directory' in line
    assert '--config-file' in line


@pytest.mark.parametrize('command', ['db check', 'db sync', 'engine'])
def test_log_that_is_a_fifo_is_bad_input(
    home: pathlib.Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(home / 'log')
    file = home / 'fifo.conf'
    file.write_text(f'[DEFAULT]\nlog_file = {home / "log"}\n')
    assert main.main([*command.split(), f'--config-file={file}']) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f'log_file = {home / "log"} must be a file, not a FIFO' in line


def test_engine_without_a_setting_names_it_and_the_file(
    home: pathlib.Path, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = home / 'less.conf'
    file.write_text('[DEFAULT]\ntransport_url = rabbit://\n')
    assert main.main(['engine', f'--config-file={file}']) == 2
    error_text = capsys.readouterr().err
    assert f'[database] connection is not set in {file}; set it' in error_text
    file.write_text('[database]\nconnection = sqlite:////none/at/all\n')
    assert main.main(['engine', f'--config-file={file}']) == 2
    error_text = capsys.readouterr().err
    assert (
        f'[DEFAULT] transport_url is not set in {file}; set it' in error_text
    )


def test_db_prints_its_files_and_database(
    config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with open(config, 'a') as file:
        file.write('[databse]\nconnection = sqlite://\n')
    cli.db(['check', f'--config-file={config}'])
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == f'Configuration: {config}'
    assert lines[1].startswith('Database: sqlite:////')
    assert lines[2] == (
        f'{config}: [databse]: unknown section, nothing reads it; did you'
        " mean 'database'?"
    )


def test_db_check_expand_and_contract(
    config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    argument = f'--config-file={config}'
    assert cli.db(['check', argument]) == schema_phase.Phase.EXPAND.value
    with pytest.raises(
        schema_phase.NotExpandedError, match='vobjects db expand'
    ):
        cli.db(['contract', argument])
    assert cli.db(['expand', argument]) == 0
    assert cli.db(['sync', argument]) == 0
    assert cli.db(['check', argument]) == 0
    assert cli.db(['contract', argument]) == 0
    assert capsys.readouterr().out.splitlines() == [
        'the database has to be expanded; run "vobjects db expand", before or'
        ' while older engines still run',
        f'the database went from none to {migrations.head()}',
        f'the database is {migrations.head()}',
        'OK: the database is up to date',
        'the database has nothing to contract',
    ]


@pytest.mark.parametrize('table', ['alembic_version', 'contract_version'])
def test_database_that_no_release_made_is_rejected_by_each_command(
    config: str, capsys: pytest.CaptureFixture[str], table: str
) -> None:
    argument = f'--config-file={config}'
    cli.db(['sync', argument])
    target = database.Database(cli.configuration([config]))
    with target.engine.begin() as connection:
        connection.exec_driver_sql(f'DELETE FROM {table}')
        connection.exec_driver_sql(f"INSERT INTO {table} VALUES ('014')")
    target.close()
    capsys.readouterr()
    assert cli.db(['check', argument]) == schema_phase.Phase.UNKNOWN.value
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("the database has revision '014', which is neither")
    assert 'set [database] connection to a new, empty database' in line
    for command in (
        ['expand'],
        ['sync'],
        ['contract'],
        ['purge', '--older-than=1d'],
        ['import-senlin', '--from=sqlite://'],
    ):
        with pytest.raises(migrations.UnknownRevisionError, match='014'):
            cli.db([*command, argument])
    with pytest.raises(migrations.UnknownRevisionError, match='014'):
        cli.main([argument])


def test_db_purge(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    purge = ['purge', f'--config-file={config}', '--older-than=1d']
    with pytest.raises(
        schema_phase.NotExpandedError, match='vobjects db expand'
    ):
        cli.db(purge)
    assert cli.db(['sync', f'--config-file={config}']) == 0
    target = database.Database(cli.configuration([config]))
    for project, age in (('ours', 2), ('theirs', 2), ('ours', 0)):
        old_rows.event(target, age, project=project)
        old_rows.action(target, age, age, project=project)
    target.close()
    capsys.readouterr()
    for more in (['--dry-run'], ['--project=theirs'], [], []):
        assert cli.db([*purge, *more]) == 0
    assert capsys.readouterr().out.splitlines() == [
        '2 actions and 2 events would be deleted',
        '1 actions and 1 events deleted',
        '1 actions and 1 events deleted',
        '0 actions and 0 events deleted',
    ]


@pytest.mark.parametrize('age', ['30', 'd', '-1d', '1.5d', '1e9d', '9' * 10])
def test_db_purge_with_an_invalid_age_exits_2(
    config: str, capsys: pytest.CaptureFixture[str], age: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.db(['purge', f'--config-file={config}', f'--older-than={age}'])
    assert ended.value.code == 2
    assert 'is not an age' in capsys.readouterr().err


def test_database_that_a_newer_release_contracted_is_rejected(
    home: pathlib.Path, config: str
) -> None:
    cli.db(['sync', '--config-file', config])
    newer = chains.next_release(home)
    conf = cli.configuration([config])
    target = database.Database(conf)
    with migrations.locked(target) as connection:
        migrations.upgrade(connection, newer.expand)
    schema_phase.contract(target, conf, newer)
    target.close()
    assert cli.db(['check', '--config-file', config]) == (
        schema_phase.Phase.TOO_NEW.value
    )
    with pytest.raises(service.SchemaError, match='newer release'):
        cli.main(['--config-file', config])


def test_engine_without_a_migrated_database_names_the_command(
    config: str,
) -> None:
    with pytest.raises(service.SchemaError, match='run "vobjects db expand"'):
        cli.main(['--config-file', config])


@pytest.mark.parametrize(
    ('content', 'message'),
    [
        (None, 'No such file'),
        ('{', 'is not JSON'),
        ('{"ClusterDeleteRequest": "1.99"}', r'ClusterDeleteRequest 1\.99'),
        ('{"ClusterDeleteRequest": "9.9"}', 'is another major version'),
        ('{"Teleport": "1.0"}', 'no such type'),
    ],
)
def test_unsupported_manifest_is_rejected(
    home: pathlib.Path, config: str, content: str | None, message: str
) -> None:
    path = home / 'manifest.json'
    if content is not None:
        path.write_text(content)
    with pytest.raises(exceptions.VobjectsError, match=message):
        cli.main(['--config-file', config, '--manifest', str(path)])


def test_keys_when_rotated_need_one(
    config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    argument = f'--config-file={config}'
    cli.db(['sync', argument])
    with pytest.raises(exceptions.VobjectsError, match='generate_key'):
        cli.db(['rotate-keys', argument])
    with pathlib.Path(config).open('a') as file:
        key = base64.urlsafe_b64encode(bytes(32)).decode()
        file.write(f'[receivers]\nencryption_keys = {key}\n')
    assert cli.db(['rotate-keys', argument]) == 0
    assert '0 credentials' in capsys.readouterr().out


def test_database_url_that_refers_to_an_unknown_option_is_not_shown(tmp_path):
    file = tmp_path / 'x.conf'
    file.write_text(
        '[database]\nconnection = postgresql+psycopg2://u:pa$secret@db/x\n'
    )
    conf = cli.configuration(files=[str(file)])
    with pytest.raises(
        exceptions.VobjectsError, match=r'\[database\] connection .* "\$\$"'
    ) as raised:
        cli.require_database(conf)
    assert 'secret' not in str(raised.value)
