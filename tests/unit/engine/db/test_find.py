# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from engine.db import database, find, models
from vobjects.clustering import errors

ONE = '11111111-aaaa-4444-8888-000000000001'
TWO = '11111111-aaaa-4444-8888-000000000002'
OTHER = '22222222-bbbb-4444-8888-000000000003'


@pytest.fixture
def rows(any_database: database.Database) -> None:
    any_database.write(
        lambda session: session.add_all(
            models.Profile(
                id=id_, name=name, type='t', spec={}, project=project
            )
            for id_, name, project in (
                (ONE, 'web', 'ours'),
                (TWO, 'db', 'ours'),
                (OTHER, 'theirs', 'theirs'),
                (models.new_id(), 'twin', 'ours'),
                (models.new_id(), 'twin', 'ours'),
                (models.new_id(), 'nobody', None),
            )
        )
    )


def lookup(
    target: database.Database,
    identity: str,
    project: str | None = 'ours',
    **options: bool,
) -> str:
    with target.reader() as session:
        return find.find(
            session, models.Profile, identity, project, **options
        ).name


@pytest.mark.parametrize(
    ('identity', 'name'),
    [
        (ONE, 'web'),
        (ONE.upper(), 'web'),
        ('web', 'web'),
        (OTHER[:8].upper(), 'theirs'),
    ],
)
def test_find_by_id_name_or_short_id(
    any_database: database.Database, rows: None, identity: str, name: str
) -> None:
    project = 'theirs' if name == 'theirs' else 'ours'
    assert lookup(any_database, identity, project) == name


@pytest.mark.parametrize('identity', [ONE[:8], 'twin'])
def test_find_when_several_rows_match_raises(
    any_database: database.Database, rows: None, identity: str
) -> None:
    with pytest.raises(errors.MultipleChoices, match='Multiple results found'):
        lookup(any_database, identity)


@pytest.mark.parametrize(
    'identity',
    [
        'none',
        '',
        OTHER,
        'theirs',
        OTHER[:8],
        '%',
        '1111',
        'a\0b',
        '\ud800',
        'web ',
    ],
)
def test_find_when_missing_or_of_another_project_raises(
    any_database: database.Database, rows: None, identity: str
) -> None:
    with pytest.raises(errors.ResourceNotFound, match='could not be found'):
        lookup(any_database, identity)


def test_find_in_another_project_needs_full_id_and_permission(
    any_database: database.Database, rows: None
) -> None:
    assert lookup(any_database, OTHER, any_project_by_id=True) == 'theirs'
    with pytest.raises(errors.ResourceNotFound):
        lookup(any_database, 'theirs', any_project_by_id=True)


def test_find_without_project_sees_only_rows_without_project(
    any_database: database.Database, rows: None
) -> None:
    assert lookup(any_database, 'nobody', None) == 'nobody'
    with pytest.raises(errors.ResourceNotFound):
        lookup(any_database, 'web', None)
