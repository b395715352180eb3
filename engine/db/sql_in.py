# SPDX-License-Identifier: Apache-2.0
"""Test whether a column is in a list that is a single parameter.

With one parameter per value, SQLAlchemy renders the statement anew each time,
which takes longer than running it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import sqlalchemy
from sqlalchemy import types
from sqlalchemy.ext import compiler
from sqlalchemy.sql import expression


class Texts(types.UserDefinedType[Any]):
    """A list of strings bound as one parameter."""

    cache_ok = True

    def bind_processor(self, dialect: Any) -> Callable[[Any], Any]:
        """Return the function that converts a list for the driver."""
        return json.dumps if dialect.name == 'sqlite' else list


class among(expression.FunctionElement[bool]):  # noqa: N801
    """The condition that a text column has one of the values in a list.

    :param column: the column
    :param name: the name of the parameter; its value is a list
    """

    type = sqlalchemy.Boolean()
    inherit_cache = True

    def __init__(self, column: Any, name: str) -> None:
        super().__init__(column, sqlalchemy.bindparam(name, type_=Texts()))


def _parts(element: among, compiler: Any, options: Any) -> list[str]:
    return [compiler.process(part, **options) for part in element.clauses]


@compiler.compiles(among)
def _mysql(element: among, compiler: Any, **options: Any) -> str:
    # The driver renders a list as an SQL list.
    column, values = _parts(element, compiler, options)
    return f'{column} IN {values}'


@compiler.compiles(among, 'postgresql')
def _postgresql(element: among, compiler: Any, **options: Any) -> str:
    column, values = _parts(element, compiler, options)
    return f'{column} = ANY({values})'


@compiler.compiles(among, 'sqlite')
def _sqlite(element: among, compiler: Any, **options: Any) -> str:
    column, values = _parts(element, compiler, options)
    given = f'(SELECT value FROM json_each({values}))'  # noqa: S608 - a placeholder
    return f'{column} IN {given}'
