# SPDX-License-Identifier: Apache-2.0
"""New fields of versioned objects, and their conversions."""

from __future__ import annotations

import pytest

from .conftest import Compare

ADDED = ('OBJECT_FIELD_CONVERTED', 'Order', 'gift')

BASE = """
class Base:
    VERSION = '1.0'
    EXTRA = ('gift',)

    def _remove_gift(self, primitive):
        primitive.pop('gift', None)

    def get(self):
        return self.gift
"""

ORDER = """
from shop import base

GIFTS = ('gift',)

def remove_gift(primitive):
    del primitive['gift']

class Order(base.Base):
    {comments}
    VERSION = '{version}'
    fields = {{{fields}}}

    {code}
"""


def release(
    version: str, *names: str, code: str = '', comments: str = ''
) -> dict[str, str]:
    fields = ', '.join(f"'{name}': fields.StringField()" for name in names)
    source = ORDER.format(
        version=version,
        fields=fields,
        code=code.strip(),
        comments=comments.strip(),
    )
    return {'base.py': BASE, 'order.py': source}


CONVERSION = """
    def obj_make_compatible(self, primitive, target_version):
        super().obj_make_compatible(primitive, target_version)
        target_version = convert_version_to_tuple(target_version)
        {}
"""


@pytest.mark.parametrize(
    'statement',
    [
        "if target_version < (1, 1): primitive.pop('gift', None)",
        "if target_version < (1, 1) and 'gift' in primitive: pass",
        'if target_version < (1, 1): self._remove_gift(primitive)',
        'if target_version < (1, 1): remove_gift(primitive)',
        'if target_version < (1, 1): drop(primitive, GIFTS)',
        'if target_version < (1, 1): drop(primitive, self.EXTRA)',
        'if target_version < (1, 1): self.gift = None',
    ],
)
def test_compare_converted_field_is_no_finding(
    compare: Compare, statement: str
) -> None:
    new = release('1.1', 'item', 'gift', code=CONVERSION.format(statement))

    assert compare(release('1.0', 'item'), new) == set()


@pytest.mark.parametrize(
    'code',
    [
        '',
        CONVERSION.format("primitive.pop('item')"),
        CONVERSION.format("if target_version < (1, 0): primitive.pop('gift')"),
        CONVERSION.format("if target_version >= (1, 1): primitive['gift']"),
        CONVERSION.format('primitive.get(1)'),
        "def obj_load_attr(self, name): return 'gift'",
    ],
)
def test_compare_field_that_no_conversion_removes(
    compare: Compare, code: str
) -> None:
    new = release('1.1', 'item', 'gift', code=code)

    assert compare(release('1.0', 'item'), new) == {ADDED}


def test_compare_new_field_without_new_version(compare: Compare) -> None:
    assert compare(release('1.0', 'item'), release('1.0', 'item', 'gift')) == {
        ('OBJECT_VERSION_RAISED', 'Order', 'gift')
    }


@pytest.mark.parametrize(
    ('comments', 'expected'),
    [
        ('# Version 1.0: Initial\n    # Version 1.1: Add gift', {ADDED}),
        ('# 1.1: Add a field,\n    #   named gift', {ADDED}),
        ('# Version 1.1: Fix item\n    # NOTE: gift is old', set()),
        ('# Version 1.0: Initial, with gift', set()),
        ('# Version 1.1: Change item to a gift', set()),
        ('# Version 1.1: Fix item\n    # 1.2: Add gift', set()),
        ('', set()),
    ],
)
def test_compare_new_type_whose_history_names_a_later_field(
    compare: Compare, comments: str, expected: set[tuple[str, str, str]]
) -> None:
    new = release('1.1', 'gift', comments=comments)

    assert compare({'base.py': BASE}, new) == {
        item for item in expected if item[2] == 'gift'
    }


def test_compare_comment_below_code_is_no_history(compare: Compare) -> None:
    new = release(
        '1.1',
        'gift',
        comments='# Version 1.1: Add more',
        code='# The gift has a ribbon',
    )

    assert compare({'base.py': BASE}, new) == set()


@pytest.mark.parametrize(
    ('decorator', 'expected'),
    [
        ('register', {ADDED}),
        ('register_notification', set()),
        ('register_if(False)', set()),
        ('register_if(True)', {ADDED}),
    ],
)
def test_compare_type_matters_if_a_process_receives_it(
    compare: Compare, decorator: str, expected: set[tuple[str, str, str]]
) -> None:
    files = [release('1.0', 'item'), release('1.1', 'item', 'gift')]
    for each in files:
        each['order.py'] = each['order.py'].replace(
            'class Order', f'@base.{decorator}\nclass Order'
        )

    assert compare(*files) == expected


@pytest.mark.parametrize(
    ('code', 'expected'),
    [
        ('', {('OBJECT_FIELD_KEPT', 'Order', 'gift')}),
        (CONVERSION.format("primitive['gift'] = None"), set()),
    ],
)
def test_compare_field_that_the_type_loses(
    compare: Compare, code: str, expected: set[tuple[str, str, str]]
) -> None:
    old = release('1.0', 'item', 'gift')

    assert compare(old, release('1.1', 'item', code=code)) == expected


@pytest.mark.parametrize(
    ('before', 'after', 'code', 'expected'),
    [
        ('', 'nullable=True', '', {ADDED}),
        ('nullable=False', 'nullable=True', '', {ADDED}),
        ('', 'nullable=False', '', set()),
        ('nullable=True', '', '', set()),
        (
            '',
            'nullable=True',
            CONVERSION.format("primitive['gift'] = ''"),
            set(),
        ),
    ],
)
def test_compare_field_that_may_be_null_now(
    compare: Compare,
    before: str,
    after: str,
    code: str,
    expected: set[tuple[str, str, str]],
) -> None:
    old = release('1.0', 'gift')
    new = release('1.1', 'gift', code=code)
    for files, options in ((old, before), (new, after)):
        files['order.py'] = files['order.py'].replace('()}', f'({options})}}')

    assert compare(old, new) == expected


ITEM = """
class Item:
    VERSION = '{version}'
    fields = {{'size': fields.StringField()}}
"""


@pytest.mark.parametrize(
    ('field', 'statement', 'found'),
    [
        ("ObjectField('Item')", 'pass', True),
        ("ListOfObjectsField('Item')", 'pass', True),
        ('StringField()', 'pass', False),
        (
            "ObjectField('Item')",
            'super().obj_make_compatible(primitive, version)',
            False,
        ),
        (
            "ObjectField('Item')",
            'Base.obj_make_compatible(self, primitive, version)',
            False,
        ),
        (
            "ObjectField('Item')",
            'pass\n    def obj_load_attr(self, name): self.item = load()',
            False,
        ),
        (
            "ObjectField('Item')",
            'pass\n    def obj_load_attr(self, name): self.other = self.item',
            True,
        ),
    ],
)
@pytest.mark.parametrize('version', ['1.0', '1.1'])
def test_compare_conversion_that_forgets_nested_objects(
    compare: Compare, field: str, statement: str, found: bool, version: str
) -> None:
    files = release(
        '1.0',
        'item',
        code=f'def obj_make_compatible(self, primitive, version): {statement}',
    )
    files['order.py'] = files['order.py'].replace('StringField()', field)
    old, new = (
        {**files, 'item.py': ITEM.format(version=item)}
        for item in ('1.0', version)
    )

    assert compare(old, new) == (
        {('OBJECT_NESTED_CONVERTED', 'Order', '')}
        if found and version == '1.1'
        else set()
    )


CALLER = """
def convert(order, version):
    primitive = {primitive}
    order.obj_make_compatible(primitive, version)
    return order.obj_from_primitive({read})
"""


@pytest.mark.parametrize(
    ('primitive', 'read', 'found'),
    [
        ('order.obj_to_primitive()', '{}', True),
        ('build(order)', 'primitive', True),
        ('build(order)', '{}', False),
    ],
)
@pytest.mark.parametrize('statement', ["del primitive['gift']", 'pass'])
def test_compare_conversion_of_the_whole_primitive(
    compare: Compare, statement: str, primitive: str, read: str, found: bool
) -> None:
    files = release('1.1', 'gift', code=CONVERSION.format(statement))
    files['caller.py'] = CALLER.format(primitive=primitive, read=read)

    assert compare(files, files) == (
        {('OBJECT_CONVERSION_LEVEL', 'Order', 'gift')}
        if found and statement != 'pass'
        else set()
    )


@pytest.mark.parametrize(
    ('table', 'statement', 'found'),
    [
        ("{'Order': '1.1'}", 'pass', True),
        ("{'objects': {'Order': ['1.2', '1.1']}}", 'pass', True),
        ("{'Order': '1.1'}", "primitive.pop('gift', None)", False),
        ("{'Order': '1.2'}", 'pass', False),
        ("{'Order': '1.0'}", 'pass', False),
        ("{'Item': '1.1'}", 'pass', False),
    ],
)
def test_compare_field_of_a_version_between_two_releases(
    compare: Compare, table: str, statement: str, found: bool
) -> None:
    code = CONVERSION.format(
        "if target_version < (1, 1): primitive.pop('gift', None)\n"
        f'        {statement}'
    )
    comments = '# Version 1.2: Add gift'
    new = release('1.2', 'item', 'gift', code=code, comments=comments)
    new['versions.py'] = f'VERSIONS = {table}'

    assert compare(release('1.0', 'item'), new) == (
        {ADDED} if found else set()
    )


VALUES = """
from shop import words

OPEN = 'open'

class State(fields.Enum):
    DONE = 'done'
    ALL = {values}

class SubState(State):
    pass

class StateField(fields.BaseEnumField):
    AUTO_TYPE = {made}

class Order(base.Object):
    VERSION = '{version}'
    fields = {{'state': {field}}}
    {code}
"""

RAISES = """
    def obj_make_compatible(self, primitive, target_version):
        if target_version < (1, 1) and primitive.get('state') == 'done':
            raise
"""


def values(
    new: str,
    field: str = 'StateField()',
    made: str = 'State()',
    version: str = '1.0',
    code: str = '',
) -> dict[str, str]:
    return {
        'words.py': "LATE = 'late'\nWORDS = ('open', LATE)",
        'order.py': VALUES.format(
            values=new, field=field, made=made, version=version, code=code
        ),
    }


@pytest.mark.parametrize(
    ('after', 'found'),
    [
        ({'new': '(OPEN, DONE)'}, True),
        ({'new': "[OPEN] + ['done']"}, True),
        ({'new': '(OPEN, words.LATE)'}, True),
        ({'new': 'words.WORDS'}, True),
        ({'new': '(OPEN, DONE)', 'made': 'SubState()'}, True),
        ({'new': '()', 'made': "fields.Enum(valid_values=('a',))"}, True),
        ({'new': '()', 'field': 'fields.EnumField(valid_values=["a"])'}, True),
        ({'new': '(OPEN, DONE)', 'version': '1.1'}, True),
        ({'new': '(OPEN,)'}, False),
        ({'new': '(OPEN, unknown.NAME)'}, False),
        ({'new': '(OPEN, DONE)', 'version': '2.0'}, False),
        ({'new': '(OPEN, DONE)', 'version': '1.1', 'code': RAISES}, False),
        ({'new': '(OPEN,)', 'field': 'fields.StringField()'}, False),
    ],
)
def test_compare_new_value_of_a_field(
    compare: Compare, after: dict[str, str], found: bool
) -> None:
    assert compare(values("('open',)"), values(**after)) == (
        {('OBJECT_VALUE_CONVERTED', 'Order', 'state')} if found else set()
    )


def test_compare_value_of_a_field_that_accepted_any(compare: Compare) -> None:
    old = values("('open',)", 'fields.StringField()')

    assert compare(old, values("('open',)")) == set()


def test_compare_fields_that_a_class_of_the_library_has_now(
    compare: Compare,
) -> None:
    old = release('1.0', 'item', 'created_at', 'updated_at')
    new = release('1.0', 'item')
    new['order.py'] = new['order.py'].replace('base.Base', 'Mixed')
    new['order.py'] = (
        'from oslo_versionedobjects import base as ovo\n'
        'Mixed = ovo.TimestampedObject\n'
    ) + new['order.py']

    assert compare(old, new) == set()


@pytest.mark.parametrize(
    ('comments', 'steps', 'found'),
    [
        ('Added gift', '(1, 1)', {ADDED}),
        ('Added gift', '(1, 3)', set()),
        ('Added gift', '(2, 0)', set()),
        ('Introduced gift', '(1, 1)', {ADDED}),
        ('Added colors as values of gift', '(1, 1)', set()),
        ('Changed gift', '(1, 1)', set()),
    ],
)
def test_compare_conversion_to_an_old_version_that_forgets_a_field(
    compare: Compare, comments: str, steps: str, found: set[object]
) -> None:
    code = CONVERSION.format(
        f"if target_version < {steps}: primitive.pop('item')"
    )
    source = release(
        '1.2',
        *('item', 'gift'),
        code=code,
        comments=f'# Version 1.1: Add item\n    # Version 1.2: {comments}',
    )

    assert compare(source, source) == found


@pytest.mark.parametrize(
    ('kept', 'found'),
    [
        ('', set()),
        ('Card', {('OBJECT_NESTED_CONVERTED', 'Order', 'Bow')}),
        ('Bow, Card', set()),
    ],
)
def test_compare_conversion_that_keeps_some_of_the_nested_types(
    compare: Compare, kept: str, found: set[object]
) -> None:
    source = release(
        '1.2',
        'item',
        code=CONVERSION.format(f'keep(primitive, [{kept}])'),
        comments='# Version 1.1: Add Card\n    # Version 1.2: Add Bow',
    )
    source['parts.py'] = 'class Card: pass\n\nclass Bow: pass'

    assert compare(source, source) == found
