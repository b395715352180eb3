# SPDX-License-Identifier: Apache-2.0
"""Requests and responses of pydantic models between two releases."""

from __future__ import annotations

import pytest

from .conftest import Compare

OMITTED = 'MODEL_NEW_FIELD_OMITTED'

MODELS = """
from typing import Optional, Union
import pydantic
import pydantic_duality

class Strict(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra='forbid')

class Item(Strict):
    name: str
    {item}

Items = Union[Item, None]

class Order({base}):
    item: Optional[Items]
    {order}

class Receipt(pydantic.BaseModel):
    {receipt}
"""

CLIENT = """
from shop import models

def excludes(order):
    result = {{'item': {{}}}}
    if order.gift is None:
        result['gift'] = True
    return result

def send(item, **values):
    order = models.Order(item=item, **values)
    return post(order.{write})
"""

ROUTES = """
from shop import models
from shop.app import router

@router.post('/orders')
def create(order: models.Order) -> models.Receipt:
    pass
"""


def release(
    order: str = 'pass',
    item: str = 'pass',
    receipt: str = 'total: int',
    base: str = 'Strict',
    write: str = 'model_dump_json()',
) -> dict[str, str]:
    return {
        'models.py': MODELS.format(
            order=order, item=item, receipt=receipt, base=base
        ),
        'client.py': CLIENT.format(write=write),
        'routes.py': ROUTES,
    }


GIFT = 'gift: bool = False'


@pytest.mark.parametrize(
    ('changes', 'expected'),
    [
        ({'order': GIFT}, {(OMITTED, 'Order', 'gift')}),
        (
            {'order': GIFT, 'write': "json(exclude={'gift'})"},
            set(),
        ),
        (
            {'order': GIFT, 'write': 'json(exclude=excludes(order))'},
            set(),
        ),
        (
            {'order': GIFT, 'write': "json(exclude={'item'})"},
            {(OMITTED, 'Order', 'gift')},
        ),
        ({'order': GIFT, 'write': 'dict(exclude_unset=True)'}, set()),
        ({'item': GIFT}, {(OMITTED, 'Item', 'gift')}),
        ({'item': f'{GIFT}\n    def dict(self): return "gift"'}, set()),
        ({'order': 'gift: ClassVar[int] = 1'}, set()),
    ],
)
def test_compare_new_field_of_a_request(
    compare: Compare,
    changes: dict[str, str],
    expected: set[tuple[str, str, str]],
) -> None:
    assert compare(release(), release(**changes)) == expected


@pytest.mark.parametrize(
    ('base', 'strict'),
    [
        ('Strict', True),
        ('pydantic_duality.DualBaseModel', True),
        ("pydantic.BaseModel, extra='forbid'", True),
        ('pydantic.BaseModel', False),
    ],
)
def test_compare_new_field_matters_if_the_old_server_is_strict(
    compare: Compare, base: str, strict: bool
) -> None:
    found = compare(release(base=base), release(base=base, order=GIFT))

    assert found == ({(OMITTED, 'Order', 'gift')} if strict else set())


@pytest.mark.parametrize(
    ('field', 'required'),
    [
        ('gift: bool', True),
        ('gift: bool = pydantic.Field(...)', True),
        ('gift: bool = pydantic.Field(description="A gift")', True),
        ('gift: bool = pydantic.Field(False)', False),
        ('gift: bool = pydantic.Field(default_factory=bool)', False),
        ('gift: Optional[bool]', False),
        ('gift: bool | None', False),
        (GIFT, False),
    ],
)
def test_compare_new_field_that_old_clients_do_not_send(
    compare: Compare, field: str, required: bool
) -> None:
    new = release(order=field, write='json(exclude_unset=True)')

    assert compare(release(), new) == (
        {('MODEL_REQUEST_ACCEPTED', 'Order', 'gift')} if required else set()
    )


@pytest.mark.parametrize(
    ('before', 'expected'),
    [
        ('total: int', {('MODEL_RESPONSE_COMPLETE', 'Receipt', 'total')}),
        ('total: int = 0', set()),
    ],
    ids=['required', 'default'],
)
def test_compare_field_that_a_response_loses(
    compare: Compare, before: str, expected: set[tuple[str, str, str]]
) -> None:
    old, new = release(receipt=before), release(receipt='note: str = ""')

    assert compare(old, new) == expected


@pytest.mark.parametrize(
    ('item', 'rewritten', 'expected'),
    [
        ('pass', 'pass', set()),
        (GIFT, 'pass', {('MODEL_REQUEST_ACCEPTED', 'Item', 'gift')}),
        (
            GIFT,
            "@pydantic.model_validator(mode='before')\n"
            '    def old(cls, values): values.pop("gift", None)',
            set(),
        ),
    ],
)
def test_compare_field_that_a_strict_server_no_longer_has(
    compare: Compare,
    item: str,
    rewritten: str,
    expected: set[tuple[str, str, str]],
) -> None:
    assert compare(release(item=item), release(item=rewritten)) == expected


CHANGE = """
from cadwyn import VersionChange, schema
from shop import models

class ChangeTotal(VersionChange):
    instructions = (schema(models.Receipt).field('total').had(type=int),)
"""


@pytest.mark.parametrize(
    ('before', 'after', 'found'),
    [
        ('int', 'str', True),
        ('int', 'int | None', True),
        ('int', 'Optional[int]', True),
        ('Optional[int]', 'int | None', False),
        ('Union[int, None]', 'Optional[int]', False),
        ('int | str', 'int', False),
        ('List[int]', 'list[int]', False),
        ('list[int]', 'list[int | None]', True),
        ('int', 'Annotated[int, Field(gt=0)]', False),
        ('"Item"', 'Item', False),
        ('Literal["a"]', 'Literal["a", "b"]', True),
        ('Any', 'int', False),
    ],
)
@pytest.mark.parametrize('versioned', [False, True])
def test_compare_response_with_values_that_old_clients_reject(
    compare: Compare, before: str, after: str, found: bool, versioned: bool
) -> None:
    old, new = (
        release(receipt=f'total: {kind} = None') for kind in (before, after)
    )
    if versioned:
        new['changes.py'] = CHANGE

    assert compare(old, new) == (
        {('MODEL_RESPONSE_COMPLETE', 'Receipt', 'total')}
        if found and not versioned
        else set()
    )
