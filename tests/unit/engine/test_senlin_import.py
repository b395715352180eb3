# SPDX-License-Identifier: Apache-2.0
"""The import rejects values that the service could not read later."""

from __future__ import annotations

import pathlib
import sqlite3

import pytest
from oslo_config import cfg

from engine import senlin_import
from engine.db import database
from engine.policies import base as policies
from engine.profiles import base as profiles
from tests import crafted_files, senlin_recording
from vobjects import exceptions


@pytest.fixture
def senlin(tmp_path: pathlib.Path) -> pathlib.Path:
    """The recorded database."""
    path = tmp_path / 'senlin.sqlite'
    senlin_recording.restore_database(path)
    return path


def problems_of(
    senlin: pathlib.Path, conf: cfg.ConfigOpts, target: database.Database
) -> str:
    """Return the problems that a check finds."""
    source = senlin_import.SenlinImport(
        f'sqlite:///{senlin}',
        conf,
        target,
        profiles.Registry.load(),
        policies.Registry.load(),
    )
    try:
        source.check()
        if not source.report.problems:
            source.run(history=True, dry_run=True)
    finally:
        source.close()
    return '\n'.join(source.report.problems)


def set_value(senlin: pathlib.Path, column: str, sql: str) -> None:
    """Set a column of the first row of a table."""
    table, _, name = column.partition('.')
    with sqlite3.connect(senlin) as connection:
        connection.execute(
            f'UPDATE {table} SET "{name}" = {sql}'
            f' WHERE rowid = (SELECT min(rowid) FROM {table})'
        )
    connection.close()


def test_file_whose_view_calls_a_function_is_rejected(
    senlin: pathlib.Path,
    conf: cfg.ConfigOpts,
    sqlite_database: database.Database,
) -> None:
    crafted_files.add_view(senlin, 'node')

    with pytest.raises(exceptions.VobjectsError, match=crafted_files.REJECTED):
        problems_of(senlin, conf, sqlite_database)


JSON = 'must be a JSON object'
NUMBER = 'must be an integer of 32 bits'
TIME = 'must be a time'
NULL = 'must not be NULL'

INVALID = [
    *(
        (column, value, JSON)
        for column in (
            'profile.spec',
            'cluster.meta_data',
            'cluster.config',
            'node.data',
            'policy.data',
            'cluster_policy.data',
            'receiver.actor',
            'receiver.channel',
            'receiver.params',
            'action.inputs',
            'event.meta_data',
        )
        for value in ("'[1]'", "'5'", "'{nope'", "x'00ff'", '5')
    ),
    *(
        (column, value, NUMBER)
        for column in ('cluster.min_size', 'node.index', 'event.level')
        for value in ("'abc'", '99999999999', '1.5', "x'00'")
    ),
    *(
        (column, value, TIME)
        for column in ('profile.created_at', 'cluster.init_at')
        for value in ("'nope'", "x'00'", "'9999-99-99 00:00:00'")
    ),
    ('action.start_time', "'x'", 'must be a number'),
    ('profile.name', 'NULL', NULL),
    ('cluster.status', 'NULL', NULL),
    ('profile.name', "x'ff'", 'must be text'),
    ('cluster.status_reason', "x'ff'", 'must be text'),
    ('profile.name', "printf('%300d', 1)", 'at most 255 characters'),
    ('cluster.name', "'a' || char(0)", 'cannot be stored'),
]


@pytest.mark.parametrize(('column', 'value', 'fault'), INVALID)
def test_invalid_value_is_a_problem_that_names_it(
    senlin: pathlib.Path,
    conf: cfg.ConfigOpts,
    sqlite_database: database.Database,
    column: str,
    value: str,
    fault: str,
) -> None:
    table, _, name = column.partition('.')
    set_value(senlin, column, value)
    problems = problems_of(senlin, conf, sqlite_database)
    assert problems.startswith('Senlin has values that are not valid')
    assert f'{table} ' in problems
    assert f': {name} ' in problems
    assert fault in problems


@pytest.mark.parametrize(
    ('column', 'value'),
    [
        ('profile.meta_data', 'NULL'),
        ('receiver.actor', '\'{"trust_id": 5}\''),
        ('receiver.channel', '\'{"alarm_url": 5}\''),
        ('credential.cred', "'[1]'"),
        ('credential.cred', '\'{"openstack": 5}\''),
        ('event.level', "'20'"),
        ('action.start_time', 'NULL'),
        ('cluster.min_size', '-1'),
    ],
)
def test_unusual_value_is_imported(
    senlin: pathlib.Path,
    conf: cfg.ConfigOpts,
    sqlite_database: database.Database,
    column: str,
    value: str,
) -> None:
    set_value(senlin, column, value)
    assert problems_of(senlin, conf, sqlite_database) == ''


@pytest.mark.parametrize('spec', ['NULL', "'null'", "'{}'"])
def test_missing_spec_is_a_problem(
    senlin: pathlib.Path,
    conf: cfg.ConfigOpts,
    sqlite_database: database.Database,
    spec: str,
) -> None:
    set_value(senlin, 'profile.spec', spec)
    problems = problems_of(senlin, conf, sqlite_database)
    assert 'spec.type is required' in problems


def test_control_characters_of_names_are_not_shown(
    senlin: pathlib.Path,
    conf: cfg.ConfigOpts,
    sqlite_database: database.Database,
) -> None:
    set_value(senlin, 'policy.spec', "'{}'")
    set_value(senlin, 'policy.name', "'a' || char(10) || char(27) || ']0;b'")
    problems = problems_of(senlin, conf, sqlite_database)
    assert 'a??]0;b' in problems
    assert problems.isprintable()
