# SPDX-License-Identifier: Apache-2.0
"""Fields of ours that cannot be read, which is said."""

from __future__ import annotations

from typing import Any, reveal_type

from vobjects import base, fields


def common() -> dict[str, fields.Field[Any]]:
    return {'limit': fields.IntegerField()}


@base.register
class List(base.Request):
    fields = {
        'name': fields.StringField(),
        **common(),  # reports: vobjects-fields
    }


@base.register
class Computed(base.Request):
    fields = {  # reports: vobjects-fields
        name: fields.StringField() for name in ('one', 'two')
    }


def read(request: List) -> None:
    reveal_type(request.name)  # reveals: str
    reveal_type(request.limit)  # reveals: Any
    List(name='n', limit=3)
    List(name=3)  # reports: arg-type
