# SPDX-License-Identifier: Apache-2.0
"""Conversions with a known inverse, words of enums, required values."""

from __future__ import annotations

from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st

from vobjects import exceptions, fields, objects
from vobjects.objects import conversions
from vobjects.objects.field_changes import added, changed, renamed, words

pytestmark = pytest.mark.usefixtures('registry')

WORDS = st.sampled_from(['disc', 'disk', 'tape', ''])
TEXTS = st.text('ab,', max_size=6)
NUMBERS = st.integers(-(2**40), 2**40)

#: Each conversion -> strategies of old and of new values.
PAIRS: list[tuple[conversions.Conversion, Any, Any]] = [
    (conversions.SAME, TEXTS, TEXTS),
    (conversions.translate({'disc': 'disk'}), WORDS, WORDS),
    (
        conversions.translate({'disc': 'disk', 'disk': 'disc'}),
        st.lists(WORDS),
        st.lists(WORDS),
    ),
    (conversions.unit(1024), NUMBERS, NUMBERS | st.booleans() | st.floats()),
    (conversions.split(','), TEXTS, st.lists(TEXTS, max_size=3)),
    (conversions.wrap(), TEXTS, st.lists(TEXTS, max_size=3)),
    (
        conversions.wrap('a'),
        TEXTS,
        st.dictionaries(st.sampled_from('ab'), TEXTS),
    ),
]


def converted(convert: conversions.Converter, value: Any) -> list[Any]:
    """Return the converted value in a list; without one, an empty list."""
    try:
        return [convert(value)]
    except ValueError:
        return []


@pytest.mark.parametrize(
    ('conversion', 'old', 'new'),
    [
        *PAIRS,
        *((pair.inverse, new, old) for pair, old, new in PAIRS),
        (conversions.join(','), st.lists(TEXTS, max_size=3), TEXTS),
    ],
    ids=lambda item: getattr(item, 'name', ''),
)
@hypothesis.given(data=st.data())
def test_converted_values_come_back_unchanged(
    conversion: conversions.Conversion, old: Any, new: Any, data: st.DataObject
) -> None:
    value = data.draw(old)
    for result in converted(conversion.up, value):
        assert conversion.down(result) == value
    if not conversion.refused_up:
        assert converted(conversion.up, value)
    value = data.draw(new)
    for result in converted(conversion.down, value):
        assert conversion.up(result) == value
    if not conversion.refused_down:
        assert converted(conversion.down, value)


def test_translate_without_an_inverse_is_refused() -> None:
    with pytest.raises(exceptions.DeclarationError, match='no inverse'):
        conversions.translate({'a': 'c', 'b': 'c'})


def test_changed_by_a_conversion_and_functions_is_refused() -> None:
    with pytest.raises(exceptions.DeclarationError, match='needs by=, or'):
        changed('1.1', int, by=conversions.SAME, up=int, down=int)


@pytest.mark.parametrize('is_annotated', [True, False])
def test_words_exist_since_their_versions(is_annotated: bool) -> None:
    declared = words(
        {'key': None, 'opaque': None, 'certificate': '1.1', 'seal': '1.2'},
        instead='opaque',
    )
    body: dict[str, Any] = {'fields': {'kind': declared}}
    if is_annotated:
        body = {'__annotations__': {'kind': str}, 'kind': declared}
    body |= {'VERSION': '1.2', 'VERSION_MAP': {'1.3': '1.1', '1.5': '1.2'}}
    secret: Any = objects.register(type('Secret', (objects.Resource,), body))

    shown = {
        version: [
            secret(kind=kind).obj_to_primitive(version)[
                'versioned_object.data'
            ]['kind']
            for kind in ('key', 'certificate', 'seal')
        ]
        for version in ('1.0', '1.1', '1.2')
    }
    assert shown == {
        '1.0': ['key', 'opaque', 'opaque'],
        '1.1': ['key', 'certificate', 'opaque'],
        '1.2': ['key', 'certificate', 'seal'],
    }


def test_words_when_an_older_version_lacks_the_default_use_another() -> None:
    @objects.register
    class Thing(objects.Object):
        VERSION = '1.1'
        kind: str = words({'a': None, 'b': '1.1'}, default='b', instead='a')

    defaults = [Thing.fields_at(v)['kind'].default for v in ('1.0', '1.1')]
    assert defaults == ['a', 'b']


@pytest.mark.parametrize('values', [{}, ['a']])
def test_words_without_a_dictionary_of_words_are_rejected(values: Any) -> None:
    with pytest.raises(exceptions.DeclarationError, match='at least one word'):
        words(values)


def test_words_when_each_has_a_version_add_the_field() -> None:
    @objects.register
    class Thing(objects.Request):
        VERSION = '1.2'
        VERSION_MAP = {'1.3': '1.2'}
        kind: str | None = words({'a': '1.1', 'b': '1.2'}, nullable=True)

    assert [sorted(Thing.fields_at(v)) for v in ('1.0', '1.1')] == [
        [],
        ['kind'],
    ]
    for kind, version in (('a', '1.0'), ('b', '1.1')):
        with pytest.raises(exceptions.LossyDowngrade):
            Thing(kind=kind).obj_to_primitive(version)


def test_words_when_the_annotation_differs_names_it() -> None:
    with pytest.raises(exceptions.DeclarationError, match=r'str \| None'):

        class Thing(objects.Request):
            kind: str = words({'a': None, 'b': '1.1'}, nullable=True)


def test_changed_to_required_and_back_converts_missing_values() -> None:
    optional = fields.StringField(nullable=True)
    required = fields.StringField()

    @objects.register
    class Key(objects.Request):
        VERSION = '1.2'
        VERSION_MAP = {'1.3': '1.1', '1.5': '1.2'}
        fields = {
            'mode': changed(
                '1.2',
                changed('1.1', optional, required, missing='ctr'),
                optional,
                instead='cbc',
            )
        }

    def read(version: str, **data: Any) -> Any:
        primitive = Key().obj_to_primitive('1.2')
        primitive['versioned_object.version'] = version
        primitive['versioned_object.data'] = data
        return Key.obj_from_primitive(primitive).mode

    assert [read('1.0'), read('1.0', mode=None)] == ['ctr', 'ctr']
    assert [read('1.0', mode='x'), read('1.2')] == ['x', None]
    sent = [
        Key(**values).obj_to_primitive('1.1')['versioned_object.data']
        for values in ({}, {'mode': 'x'})
    ]
    assert sent == [{'mode': 'cbc'}, {'mode': 'x'}]


@pytest.mark.parametrize(
    ('options', 'problem'),
    [({}, 'missing='), ({'missing': []}, r'rejects missing=\[\]')],
)
def test_changed_to_required_needs_a_value_for_older_clients(
    options: Any, problem: str
) -> None:
    old, new = fields.StringField(nullable=True), fields.StringField()
    with pytest.raises(exceptions.DeclarationError, match=problem):

        @objects.register
        class Key(objects.Request):
            VERSION = '1.2'
            VERSION_MAP = {'1.3': '1.2'}
            fields = {
                'other': added('1.1', fields.StringField(nullable=True)),
                'mode': changed('1.2', old, new, **options),
            }


#: The parts of a name, and the name at 1.0.
NAMES = [
    ({'name': 'a', 'version': '1.0'}, 'a-1.0'),
    ({'name': 'a-b', 'version': '1.0'}, 'a-b-1.0'),
    ({'name': 'a'}, 'a'),
    ({'name': 'a-b'}, 'a-b-'),
    ({'name': '', 'version': '1'}, '-1'),
]


@pytest.fixture
def types() -> list[Any]:
    """A request and a resource whose version was a part of the name."""
    body = {
        'VERSION': '1.2',
        'VERSION_MAP': {'1.5': '1.1', '1.6': '1.2'},
        '__annotations__': {'name': str, 'version': 'str | None'},
        'name': renamed('1.2', 'title'),
        'version': added('1.1', split_from=('name', '-')),
    }
    return [
        objects.register(type(f'A{parent.__name__}', (parent,), {**body}))
        for parent in (objects.Request, objects.Resource)
    ]


@pytest.mark.parametrize(('values', 'name'), NAMES)
def test_a_field_is_split_from_another(
    types: list[Any], values: dict[str, str], name: str
) -> None:
    for cls in types:
        older = cls(**values).obj_to_primitive('1.0')
        assert older['versioned_object.data'] == {'title': name}
        assert cls.obj_from_primitive(older).as_dict() == values


def test_a_part_with_the_separator_is_refused(types: list[Any]) -> None:
    request, resource = types
    values = {'name': 'a', 'version': '1-0'}
    with pytest.raises(exceptions.LossyDowngrade, match='version'):
        request(**values).obj_to_primitive('1.0')
    older = resource(**values).obj_to_primitive('1.0')
    assert older['versioned_object.data'] == {'title': 'a'}


@hypothesis.given(
    name=st.text('ab-', max_size=5),
    version=st.none() | st.text('12-', max_size=3),
)
@hypothesis.settings(
    suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture]
)
def test_split_values_come_back_unchanged(
    types: list[Any], name: str, version: str | None
) -> None:
    request = types[0](name=name)
    if version is not None:
        request.version = version
    try:
        older = request.obj_to_primitive('1.0')
    except exceptions.LossyDowngrade:
        assert version is not None
        assert not version or '-' in version
        return
    assert types[0].obj_from_primitive(older).as_dict() == request.as_dict()


@pytest.mark.parametrize('whole', ['other', 'size', 'version'])
def test_split_from_needs_a_text_of_all_versions(whole: str) -> None:
    with pytest.raises(exceptions.DeclarationError, match='another field'):

        @objects.register
        class Thing(objects.Object):
            VERSION = '1.1'
            size: int
            version: str | None = added('1.1', split_from=(whole, '-'))
