# SPDX-License-Identifier: Apache-2.0
"""Declarations as annotations and in a dictionary mean the same."""

import ast

import pytest

from tests.unit.vobjects.objects.test_annotated_fields import (
    DECLARATIONS,
    build,
)
from vobjects.lock import annotation_code, snapshot

__all__ = ['build']


@pytest.mark.parametrize(('annotated', 'field'), DECLARATIONS)
def test_a_dictionary_written_as_annotations_declares_the_same(
    annotated, field, build
):
    code = annotation_code.as_annotation('a', field)
    converted = snapshot.of_classes([build(code)]).types
    written = snapshot.of_classes([build(f"fields = {{'a': {field}}}")]).types
    assert [*converted.values()] == [*written.values()]


@pytest.mark.parametrize(
    ('field', 'annotation'),
    [
        ('fields.StringField()', 'a: str'),
        ('fields.StringField(nullable=True)', 'a: str | None = UNSET'),
        ('fields.IntegerField(default=1)', 'a: int = 1'),
        ("fields.ObjectField('Disk')", 'a: Disk'),
        ("fields.ListOfObjectsField('Disk')", 'a: list[Disk]'),
        ('fields.DateTimeField()', 'a: datetime.datetime'),
        ('fields.JsonField(default={})', 'a: dict[str, Any] = {}'),
        ('fields.DictOfStringsField()', 'a: dict[str, str]'),
        (
            'fields.NameField(maximum=9, nullable=True)',
            'a: Annotated[str, fields.NameField(maximum=9)] | None = UNSET',
        ),
        (
            "added('1.1', fields.EnumField(['x']), on_drop='ignore')",
            "a: Annotated[str, fields.EnumField(['x'])] ="
            " added('1.1', on_drop='ignore')",
        ),
        (
            "added('1.1', fields.StringField(nullable=True))",
            "a: str | None = added('1.1')",
        ),
        (
            "renamed('1.2', 'b',"
            " added('1.1', fields.IntegerField(default=1)))",
            "a: int = renamed('1.2', 'b', added('1.1'), default=1)",
        ),
    ],
)
def test_annotations_are_as_short_as_possible(field, annotation):
    assert annotation_code.as_annotation('a', field) == annotation


@pytest.mark.parametrize(
    ('annotated', 'field', 'expected'),
    [
        ('a: int = 1', 'FIELD', 'FIELD'),
        ("a: int = added('1.1', default=1)", 'F()', "added('1.1', F())"),
        (
            "a: int = renamed('1.2', 'b', added('1.1'), default=1)",
            'F()',
            "renamed('1.2', 'b', added('1.1', F()))",
        ),
        (
            "a: int = changed('1.1', OLD, up=int, down=str)",
            'F()',
            "changed('1.1', OLD, F(), up=int, down=str)",
        ),
    ],
)
def test_an_annotation_is_read_as_a_value_of_a_dictionary(
    annotated, field, expected
):
    (statement,) = ast.parse(annotated).body
    assert isinstance(statement, ast.AnnAssign)
    value = ast.parse(field, mode='eval').body
    read = annotation_code.as_field(statement.value, value)
    assert ast.unparse(read) == expected
