# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import datetime
import itertools

import pytest
import sqlalchemy

from engine.db import database, models, paging, types
from vobjects.clustering import errors
from vobjects.rpc import byte_budget

YEAR = datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)

LISTING = paging.Listing(
    sqlalchemy.select(models.Profile.__table__.c.id),
    models.Profile,
    ('name', 'type', 'created_at', 'updated_at'),
    'created_at',
)


@pytest.fixture
def rows(any_database: database.Database) -> list[models.Profile]:
    """Twelve rows with ties in every column, and NULLs."""
    rows = [
        models.Profile(
            id=f'{number * 7 % 12:02}',
            name='abc'[number % 3],
            type='xy'[number % 2],
            spec={},
            created_at=YEAR + datetime.timedelta(days=number // 4),
            updated_at=None
            if number % 4 == 0
            else YEAR + datetime.timedelta(seconds=number % 4),
        )
        for number in range(12)
    ]
    any_database.write(lambda session: session.add_all(rows))
    return rows


def page(target: database.Database, **options: object) -> list[str]:
    with target.reader() as session:
        rows = LISTING.rows(session.connection(), paging.Page(**options))
        return [row.id for row in rows]


def test_default_order_is_by_the_first_key(
    any_database: database.Database, rows: list[models.Profile]
) -> None:
    expected = sorted(rows, key=lambda row: (row.created_at, row.id))
    assert page(any_database) == [row.id for row in expected]


def test_sort_by_several_keys_uses_each_direction(
    any_database: database.Database, rows: list[models.Profile]
) -> None:
    page_ids = page(any_database, sort='type:desc,name')
    expected = sorted(rows, key=lambda row: (row.name, row.id))
    expected.sort(key=lambda row: row.type, reverse=True)
    assert page_ids == [row.id for row in expected]


@pytest.mark.parametrize(
    'sort',
    [
        ','.join(f'{key}{way}' for key, way in zip(keys, ways, strict=True))
        for keys in (('name', 'updated_at'), ('updated_at', 'type'), ('name',))
        for ways in itertools.product(('', ':desc'), repeat=len(keys))
    ],
)
@pytest.mark.parametrize('limit', [1, 5])
def test_pages_concatenated_equal_the_list(
    any_database: database.Database,
    rows: list[models.Profile],
    sort: str,
    limit: int,
) -> None:
    whole = page(any_database, sort=sort)
    assert sorted(whole) == sorted(row.id for row in rows)
    pages: list[str] = []
    marker = None
    while part := page(any_database, sort=sort, limit=limit, marker=marker):
        pages += part
        marker = part[-1]
    assert pages == whole


def test_limit_zero_returns_an_empty_page(
    any_database: database.Database, rows: list[models.Profile]
) -> None:
    assert page(any_database, limit=0) == []


@pytest.mark.parametrize('sort', ['color', 'name:up', 'name,,type'])
def test_sort_by_unknown_key_is_rejected(
    any_database: database.Database, sort: str
) -> None:
    with pytest.raises(errors.BadRequest, match='Unsupported sort key'):
        page(any_database, sort=sort)


def test_unknown_marker_is_rejected(
    any_database: database.Database, rows: list[models.Profile]
) -> None:
    with pytest.raises(errors.BadRequest, match='marker'):
        page(any_database, marker='nothing')


@pytest.fixture
def large(any_database: database.Database) -> list[models.Profile]:
    """Five rows, the first of 3 MB, the others of 600 kB."""
    rows = [
        models.Profile(
            id=f'{number}',
            name='x',
            type='x',
            spec={'a': 'x' * (600_000 if number else 600_000 * 5)},
            created_at=YEAR + datetime.timedelta(days=number),
        )
        for number in range(5)
    ]
    any_database.write(lambda session: session.add_all(rows))
    return rows


PROFILES = models.Profile.__table__.c
SPECS = paging.Listing(
    sqlalchemy.select(
        PROFILES.id,
        sqlalchemy.type_coerce(PROFILES.spec, types.JsonText()),
    ),
    models.Profile,
    ('created_at',),
    'created_at',
)


def test_rows_when_too_many_bytes_reports_how_many_fit(
    any_database: database.Database,
    large: list[models.Profile],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(paging, 'MAX_BYTES', 4_000_000)

    def read(**options: object) -> list[str]:
        with any_database.read_connection() as connection:
            rows = SPECS.rows(connection, paging.Page(**options))
        return [row.id for row in rows]

    with pytest.raises(errors.ListTooLarge, match='at most 2 items') as caught:
        read()
    assert caught.value.rows == '2'
    assert read(limit=2) == ['0', '1']
    assert read(marker='1') == ['2', '3', '4']
    monkeypatch.setattr(paging, 'MAX_BYTES', 100)
    # A page of one can always be read.
    assert read(limit=1) == ['0']
    with pytest.raises(errors.ListTooLarge, match='at most 1 items'):
        read()


def test_rows_when_large_wait_for_the_budget(
    any_database: database.Database,
    large: list[models.Profile],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    budget = byte_budget.ByteBudget(paging.MAX_BYTES, timeout=0)
    with (
        any_database.read_connection() as connection,
        byte_budget.call_scope(budget),
    ):
        assert len(SPECS.rows(connection, paging.Page(limit=1))) == 1
        assert budget.reserved == paging.MAX_BYTES
        with pytest.raises(errors.Unavailable, match='too many large lists'):
            SPECS.rows(connection, paging.Page(limit=1))
    assert budget.reserved == 0
