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

class Tested(pydantic.BaseModel):
    class Config:
        if TESTS:
            extra = 'forbid'
        else:
            extra = 'ignore'

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
        ({'order': 'gift: Annotated[int, Field(exclude=True)] = 1'}, set()),
        ({'order': 'gift: int = Field(1, exclude=True)'}, set()),
        (
            {'order': 'gift: int = Field(1, exclude=None)'},
            {(OMITTED, 'Order', 'gift')},
        ),
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
        ('pydantic_duality.generate_dual_base_model(Config)', True),
        ("pydantic.BaseModel, extra='forbid'", True),
        ('Tested', False),
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
            'class Config:\n'
            '        def schema_extra(schema): add(schema, extra_types=[])',
            {('MODEL_REQUEST_ACCEPTED', 'Item', 'gift')},
        ),
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


@pytest.mark.parametrize(
    ('before', 'after', 'found'),
    [
        ('gift: int = 0', 'gift: int', True),
        ('gift: int', 'gift: int = 0', False),
        ('gift: Optional[int] = 0', 'gift: int = 0', True),
        ('gift: int = None', 'gift: Optional[int] = 0', False),
        ('gift: Optional[str] = ""', 'gift: Any = ""', False),
        ('gift: Literal["a", "b"] = "a"', 'gift: Literal["a"] = "a"', True),
        ('gift: Literal["a", "b"] = "a"', 'gift: str = "a"', False),
        ('gift: int = 0', 'gift: float = 0', False),
        (
            'gift: int = 0',
            "gift: int\n    @validator('gift')\n    def check(cls, v): pass",
            False,
        ),
    ],
)
def test_compare_field_of_a_request_that_accepts_less(
    compare: Compare, before: str, after: str, found: bool
) -> None:
    old, new = (
        release(order=field, write='json(exclude_unset=True)')
        for field in (before, after)
    )

    assert compare(old, new) == (
        {('MODEL_REQUEST_ACCEPTED', 'Order', 'gift')} if found else set()
    )


def test_compare_required_field_that_old_clients_always_send(
    compare: Compare,
) -> None:
    old, new = release(order='gift: int = 0'), release(order='gift: int')

    assert compare(old, new) == set()


@pytest.mark.parametrize(
    ('part', 'expected'),
    [
        ('name: str\n    note: str = ""', set()),
        ('pass', {('MODEL_RESPONSE_COMPLETE', 'Receipt', 'lines')}),
    ],
)
def test_compare_part_of_a_response_with_another_name(
    compare: Compare, part: str, expected: set[tuple[str, str, str]]
) -> None:
    old = release(receipt='lines: list[Item] = []')
    new = release(receipt='lines: list[Line] = []')
    new['models.py'] += f'\nclass Line(Strict):\n    {part}'

    assert compare(old, new) == expected


STATES = """
import enum
import pydantic

class State(str, enum.Enum):
    {members}

class Bill(pydantic.BaseModel):
    state: {field}
"""

VERSIONS = """
from packaging.version import Version
from shop.states import State

def convert(bill, client_version):
    if client_version < Version('1.2'):
        bill.state = State.{member}
"""


@pytest.mark.parametrize(
    'read',
    [
        'pydantic.parse_obj_as(list[states.Bill], answer)',
        'states.Bill.model_validate_json(answer)',
        'states.Bill(**answer)',
    ],
)
@pytest.mark.parametrize(
    ('before', 'after', 'expected'),
    [
        ('OLD = "old"', 'OLD = "old"', set()),
        ('OLD = "old"', 'OTHER = "old"', set()),
        ('OLD = enum.auto()', 'OLD = "old"', set()),
        ('OLD = 1', 'OLD = 1\n    NEW = 2', {'NEW'}),
        ('OLD = "old"', 'NEW = "new"', {'NEW', 'OLD'}),
        ('OLD = "old"', 'OLD = "old"\n    NEW = make()', set()),
        (
            'OLD = "old"\n    def _missing_(cls, value): return cls.OLD',
            'NEW = "new"\n    def _missing_(cls, value): return cls.NEW',
            set(),
        ),
    ],
)
def test_compare_values_of_an_enumeration_that_code_reads(
    compare: Compare, read: str, before: str, after: str, expected: set[str]
) -> None:
    client = f'from shop import states\ndef load(answer): return {read}'
    old, new = (
        {
            'states.py': STATES.format(members=members, field='State'),
            'client.py': client,
        }
        for members in (before, after)
    )

    assert compare(old, new) == {
        ('MODEL_VALUE_KNOWN', 'State', member) for member in expected
    }


@pytest.mark.parametrize(
    ('field', 'found'),
    [
        ('total: int', True),
        ('total: int = 0', False),
        ('total: int | None', False),
        (
            'total: int\n    @root_validator(pre=True)\n'
            '    def fill(cls, values): values.setdefault("total", 0)',
            False,
        ),
    ],
)
@pytest.mark.parametrize('read', ['states.Bill.parse_raw(row)', 'row'])
def test_compare_new_field_that_stored_documents_lack(
    compare: Compare, field: str, found: bool, read: str
) -> None:
    files = {
        'states.py': STATES.format(members='OLD = 1', field='State'),
        'rows.py': f'from shop import states\ndef load(row): return {read}',
    }
    new = {**files, 'states.py': f'{files["states.py"]}\n    {field}'}

    assert compare(files, new) == (
        {('MODEL_DOCUMENT_READ', 'Bill', 'total')}
        if found and read != 'row'
        else set()
    )


@pytest.mark.parametrize(
    ('field', 'client', 'member'),
    [
        ('State', 'other(states.Bill)', ''),
        ('State | str', 'states.Bill.parse_obj(1)', ''),
        ('State', 'states.Bill.parse_obj(1)', 'NEW'),
    ],
    ids=['unread', 'text', 'converted'],
)
def test_compare_new_value_of_an_enumeration_that_no_client_rejects(
    compare: Compare, field: str, client: str, member: str
) -> None:
    old, new = (
        {
            'states.py': STATES.format(members=members, field=field),
            'client.py': f'from shop import states\n{client}',
        }
        for members in ('OLD = "old"', 'OLD = "old"\n    NEW = "new"')
    )
    new['versions.py'] = VERSIONS.format(member=member or 'OLD')

    assert compare(old, new) == set()


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
        release(receipt=f'total: {kind} = 0') for kind in (before, after)
    )
    if versioned:
        new['changes.py'] = CHANGE

    assert compare(old, new) == (
        {('MODEL_RESPONSE_COMPLETE', 'Receipt', 'total')}
        if found and not versioned
        else set()
    )


@pytest.mark.parametrize(
    ('function', 'found'),
    [
        ('def f(it: models.Bill):\n  if it.total is None:\n   ', True),
        ('def f(it: models.Receipt):\n  if it.total is None:\n   ', False),
        ('def f(it) -> models.Receipt:\n  if it.total is None:\n   ', False),
        ('def f(it: models.Receipt):\n  if it.other is None:\n   ', True),
        ('def f(it: models.Receipt):\n  if it.total:\n   ', True),
    ],
)
def test_compare_response_whose_null_the_server_replaces(
    compare: Compare, function: str, found: bool
) -> None:
    old, new = (
        release(receipt=f'total: {kind} = 0') for kind in ('int', 'int | None')
    )
    new['fill.py'] = f'from shop import models\n{function}it.total = 0\n'

    assert compare(old, new) == (
        {('MODEL_RESPONSE_COMPLETE', 'Receipt', 'total')} if found else set()
    )
