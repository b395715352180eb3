# SPDX-License-Identifier: Apache-2.0
"""Types that no call carries."""

from __future__ import annotations

import pathlib

import pytest

from vobjects_releases import comparison

from .conftest import write

TYPE = """
from shop import base

class {name}({base}):
    VERSION = '{version}'
    fields = {{{fields}}}

    {code}
"""

CLIENT = """
import oslo_messaging

class ShopAPI:
    def ship(self, ctxt, {argument}):
        return self.client.call(ctxt, 'ship', {argument}={argument})
"""

SERVER = """
import oslo_messaging

class Manager:
    target = oslo_messaging.Target(version='1.0')

    def ship(self, context, {argument}):
        {body}
"""


def order_type(version: str, code: str = 'pass', base: str = 'object') -> str:
    fields = "'item': fields.StringField()"
    if version != '1.0':
        fields += ", 'gift': fields.StringField()"
    return TYPE.format(
        name='GiftOrder', version=version, fields=fields, code=code, base=base
    )


def severities(
    directory: pathlib.Path, files: dict[str, str], **options: str
) -> set[str]:
    """Return the severities of findings for a new field of ``GiftOrder``."""
    files = {'client.py': CLIENT.format(argument='name'), **files}
    old, new = (
        comparison.Release(
            write(
                directory / version,
                {**files, 'order.py': order_type(version, **options)},
            )
        )
        for version in ('1.0', '1.1')
    )
    return {
        item.severity
        for item in comparison.compare(old, new)
        if item.subject == 'GiftOrder'
    }


def test_type_without_any_sign_is_note(tmp_path: pathlib.Path) -> None:
    assert severities(tmp_path, {}) == {'note'}


def test_type_in_tree_without_calls_is_error(tmp_path: pathlib.Path) -> None:
    assert severities(tmp_path, {'client.py': ''}) == {'error'}


@pytest.mark.parametrize(
    ('argument', 'expected'),
    [
        ('gift_order', 'error'),
        ('order', 'error'),
        ('orders', 'error'),
        ('order_obj', 'error'),
        ('order_list', 'error'),
        ('ord', 'error'),
        ('o', 'note'),
        ('gift', 'note'),
        ('order_id', 'note'),
        ('big_gift_order', 'note'),
    ],
)
@pytest.mark.parametrize('side', ['client', 'server'])
def test_type_with_the_name_of_an_argument(
    tmp_path: pathlib.Path, side: str, argument: str, expected: str
) -> None:
    code = (
        CLIENT.format(argument=argument)
        if side == 'client'
        else SERVER.format(argument=argument, body='pass')
    )

    assert severities(tmp_path, {f'{side}.py': code}) == {expected}


@pytest.mark.parametrize(
    ('body', 'expected'),
    [
        ('return objects.GiftOrder()', 'error'),
        ('o = objects.GiftOrder.get(name); return o', 'error'),
        ('o = objects.GiftOrder.get(name); o.save()', 'note'),
        ('return name', 'note'),
    ],
)
def test_type_that_a_server_returns(
    tmp_path: pathlib.Path, body: str, expected: str
) -> None:
    server = SERVER.format(argument='name', body=body)

    assert severities(tmp_path, {'server.py': server}) == {expected}


@pytest.mark.parametrize(
    ('module', 'expected'),
    [('rpc_types.py', 'error'), ('database.py', 'note')],
)
def test_type_that_code_for_rpc_mentions(
    tmp_path: pathlib.Path, module: str, expected: str
) -> None:
    files = {module: 'TYPES = (objects.GiftOrder,)'}

    assert severities(tmp_path, files) == {expected}


@pytest.mark.parametrize(
    'field',
    ["ObjectField('GiftOrder')", "ListOfObjectsField('GiftOrder')"],
)
def test_type_in_a_field_of_a_carried_type(
    tmp_path: pathlib.Path, field: str
) -> None:
    parcel = TYPE.format(
        name='Parcel',
        base='object',
        version='1.0',
        fields=f"'content': fields.{field}",
        code='pass',
    )
    client = CLIENT.format(argument='parcel')

    files = {'parcel.py': parcel, 'client.py': client}
    assert severities(tmp_path, files) == {'error'}


def test_subtype_of_a_carried_type(tmp_path: pathlib.Path) -> None:
    base = TYPE.format(
        name='Parcel',
        base='object',
        version='1.0',
        fields="'size': fields.StringField()",
        code='pass',
    )
    client = CLIENT.format(argument='parcel')

    files = {'base.py': base, 'client.py': client}
    assert severities(tmp_path, files, base='base.Parcel') == {'error'}


INDIRECTION = 'base.Base.indirection_api = conductor.API()'

USE = SERVER.format(argument='name', body='objects.GiftOrder.get(name)')

ACTION = '\n    def object_action(self, context): pass\n'


@pytest.mark.parametrize(
    ('main', 'server', 'expected'),
    [
        (INDIRECTION, USE, 'error'),
        (INDIRECTION, USE + ACTION, 'note'),
        ('base.Base.indirection_api = None', USE, 'note'),
    ],
    ids=['indirect', 'database', 'direct'],
)
def test_type_that_a_server_without_database_mentions(
    tmp_path: pathlib.Path, main: str, server: str, expected: str
) -> None:
    files = {'main.py': main, 'server.py': server}

    assert severities(tmp_path, files) == {expected}


def test_type_with_stored_versions(tmp_path: pathlib.Path) -> None:
    code = 'def _convert_to_version(self, version): pass'

    assert severities(tmp_path, {}, code=code) == {'error'}
