# SPDX-License-Identifier: Apache-2.0
"""Reading pydantic models into a lock."""

from __future__ import annotations

import enum

import pydantic
import pytest

from recall import inside
from vobjects.lock import check, parse, text
from vobjects.lock.model import Lock


class Status(enum.Enum):
    OPEN = 'open'
    PAID = 'paid'


class Item(pydantic.BaseModel):
    name: str


class Order(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra='forbid')

    items: list[Item]
    status: Status = Status.OPEN
    note: str | None = None
    pair: int | str = 1


def lock_of(*models: type[pydantic.BaseModel]) -> Lock:
    return inside.models_lock(models, [__name__])


def test_models_lock_writes_kinds_types_and_defaults() -> None:
    content = text.dump(lock_of(Order, Item))

    assert parse.parse(content).types.keys() == {'Item', 'Order'}
    assert content.partition('\n\n')[2].splitlines() == [
        '[type.Item."1.0"]',
        'fields.name = "String"',
        '',
        '[type.Order."1.0"]',
        'kind = "request"',
        'fields.items = "List(Object(Item))"',
        'fields.note = "String | null = null"',
        'fields.pair = "Union(Integer, String) = 1"',
        'fields.status = \'Enum("open", "paid") = "computed"\'',
    ]


@pytest.mark.parametrize(
    ('extra', 'breakage'),
    [('forbid', "rejects 'gift'"), ('ignore', "drops 'gift'")],
)
def test_models_lock_new_field_breaks_old_reader(
    extra: str, breakage: str
) -> None:
    config = pydantic.ConfigDict(extra=extra)  # type: ignore[typeddict-item]
    old = pydantic.create_model('Order', __config__=config, item=str)
    new = pydantic.create_model(
        'Order', __config__=config, item=str, gift=(bool, False)
    )
    for model in (old, new):
        model.__module__ = __name__

    (found,) = check.diff(lock_of(old), lock_of(new)).findings

    assert found.subject == 'Order.gift'
    assert found.breaks['forward'].startswith(breakage)
