# SPDX-License-Identifier: Apache-2.0
"""Types of vobjects with fields that the plug-in cannot read."""

from __future__ import annotations

from typing import Any, reveal_type

from vobjects import fields, objects


def common() -> dict[str, fields.Field[Any]]:
    return {'limit': fields.IntegerField()}


@objects.register
class List(objects.Request):
    fields = {
        'name': fields.StringField(),
        **common(),  # reports: vobjects-fields
    }


@objects.register
class Computed(objects.Request):
    fields = {  # reports: vobjects-fields
        name: fields.StringField() for name in ('one', 'two')
    }


def read(request: List) -> None:
    reveal_type(request.name)  # reveals: str
    reveal_type(request.limit)  # reveals: Any
    List(name='n', limit=3)
    List(name=3)  # reports: arg-type
