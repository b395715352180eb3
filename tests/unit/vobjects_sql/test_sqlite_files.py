# SPDX-License-Identifier: Apache-2.0
"""Views and triggers of an SQLite file call no functions of its reader."""

from __future__ import annotations

import pathlib
from collections.abc import Callable

import pytest
import sqlalchemy

import api
import engine
import vobjects
import vobjects_sql
from tests import crafted_files
from vobjects_sql import sqlite_files


@pytest.mark.parametrize(
    ('craft', 'statement'),
    [
        (crafted_files.add_view, 'SELECT * FROM things'),
        (crafted_files.add_trigger, 'UPDATE things SET id = 2'),
    ],
)
def test_view_and_trigger_that_call_a_function_are_rejected(
    tmp_path: pathlib.Path,
    craft: Callable[[pathlib.Path, str], None],
    statement: str,
) -> None:
    path = tmp_path / 'crafted.sqlite'
    trusting = sqlalchemy.create_engine(f'sqlite:///{path}')
    with trusting.begin() as connection:
        connection.exec_driver_sql('CREATE TABLE things (id INTEGER)')
        connection.exec_driver_sql('INSERT INTO things VALUES (1)')
    craft(path, 'things')
    with trusting.begin() as connection:
        connection.exec_driver_sql(statement)
    trusting.dispose()

    distrusting = sqlalchemy.create_engine(f'sqlite:///{path}')
    sqlite_files.distrust_schema(distrusting)
    with (
        distrusting.begin() as connection,
        pytest.raises(
            sqlalchemy.exc.OperationalError, match=crafted_files.REJECTED
        ),
    ):
        connection.exec_driver_sql(statement)
    distrusting.dispose()


def test_each_module_that_opens_databases_distrusts_their_schema() -> None:
    opening = {
        path.name: 'distrust_schema(' in text
        for package in (api, engine, vobjects, vobjects_sql)
        for path in pathlib.Path(package.__path__[0]).rglob('*.py')
        for text in [path.read_text()]
        if ' = sqlalchemy.create_engine(' in text
        or 'engines.create_engine(' in text
        or 'sqlite3.connect(' in text
    }
    opening.pop('__init__.py')  # an example in a docstring
    assert opening
    assert all(opening.values()), opening
