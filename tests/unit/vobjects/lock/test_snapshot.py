# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pathlib
from typing import Any

import pytest
from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import fixture

from tests.unit.vobjects.lock.factories import ovo_class, vobjects_type
from vobjects import fields, objects
from vobjects.lock import parse, snapshot, text
from vobjects.lock.fingerprint import fingerprint
from vobjects.lock.model import Lock, LockError, TypeSchema
from vobjects.objects.history import added, changed, removed, renamed


def remote(self: Any, context: Any, name: str = 'x', *more: Any) -> None:
    """A remotable method."""


def typed(self: Any, context: Any, *, name: str) -> int:
    """A remotable method with annotations."""
    return len(name)


@pytest.mark.usefixtures('registry')
@pytest.mark.parametrize(
    'body',
    [
        {},
        {'go': ovo_base.remotable(remote), 'also': ovo_base.remotable(typed)},
        {'load': classmethod(ovo_base.remotable(remote))},
        {'child_versions': {'1.1': '1.10', '1.0': '1.2'}},
        {'child_versions': {}},
    ],
)
def test_fingerprint_equals_that_of_ovo(body: dict[str, Any]) -> None:
    cls = ovo_class(
        version='1.3',
        body=body,
        z=fields.EnumField(valid_values=('B', 'A'), default='A'),
        a=fields.ListOfObjectsField('Thing', nullable=True),
    )
    checker = fixture.ObjectVersionChecker({'Thing': [cls]})
    assert checker.get_hashes() == {
        'Thing': f'1.3-{fingerprint(cls, cls.fields)}'
    }


def test_fingerprints_of_the_service_equal_those_of_ovo() -> None:
    imports = ['vobjects.clustering.types', 'vobjects.rpc.fleet_types']
    snapshot.load(imports)
    lock = snapshot.snapshot(imports)
    classes = {cls.obj_name(): [cls] for cls in snapshot.classes_of(imports)}
    assert fixture.ObjectVersionChecker(classes).get_hashes() == {
        name: f'{schemas[-1].version}-{schemas[-1].fingerprint}'
        for name, schemas in lock.types.items()
    }


@pytest.mark.usefixtures('registry')
@pytest.mark.parametrize(
    ('parent', 'refuse_loss', 'expected'),
    [
        (objects.Request, 'null', 'request'),
        (objects.Resource, False, 'resource'),
        (objects.Object, True, 'object'),
        (objects.Object, False, 'resource'),
    ],
)
def test_kind_tells_what_a_downgrade_may_lose(
    parent: type[objects.Object], refuse_loss: Any, expected: str
) -> None:
    cls = vobjects_type(parent=parent)
    cls.REFUSE_LOSS = refuse_loss
    (schema,) = snapshot.of_classes([cls]).schemas
    assert schema.kind == expected


@pytest.mark.usefixtures('registry')
def test_snapshot_of_vobjects_type_has_every_version() -> None:
    cls = vobjects_type(
        version='1.4',
        parent=objects.Request,
        version_map={'1.2': '1.1', '1.9': '1.4'},
        a=added('1.1', fields.StringField(default='x'), on_drop='ignore'),
        c=renamed('1.2', 'b', fields.ObjectField('Other', subclasses=True)),
        d=changed(
            '1.4',
            fields.IntegerField(),
            fields.DictOfStringsField(),
            up=str,
            down=str,
        ),
        e=removed('1.4', fields.DateTimeField(nullable=True), dropped='1.4'),
        f=removed('1.4', fields.StringField(nullable=True)),
    )
    lock = snapshot.of_classes([cls])
    assert [
        ''.join(
            f'{line}\n' for line in text.block(schema) if 'print' not in line
        )
        for schema in lock.schemas
    ] == [
        """\
[type.Thing."1.0"]
kind = "request"
fields.b = "Object(Other, subclasses=true)"
fields.d = "Integer"
fields.e = "DateTime(tzinfo_aware=true) | null"
fields.f = "String | null"
""",
        """\
[type.Thing."1.1"]
kind = "request"
microversion = "1.2"
conversions = [
  "added a ignoring loss",
]
fields.a = 'String = "x"'
fields.b = "Object(Other, subclasses=true)"
fields.d = "Integer"
fields.e = "DateTime(tzinfo_aware=true) | null"
fields.f = "String | null"
""",
        """\
[type.Thing."1.2"]
kind = "request"
conversions = [
  "renamed b to c",
]
fields.a = 'String = "x"'
fields.c = "Object(Other, subclasses=true)"
fields.d = "Integer"
fields.e = "DateTime(tzinfo_aware=true) | null"
fields.f = "String | null"
""",
        """\
[type.Thing."1.4"]
kind = "request"
microversion = "1.9"
conversions = [
  "changed d by functions; loss unknown",
  "removed e",
  "removed f",
]
fields.a = 'String = "x"'
fields.c = "Object(Other, subclasses=true)"
fields.d = "Dict(String)"
fields.f = "String | null"
""",
    ]
    # It includes versions that only the lock has.
    known = Lock(schemas=(TypeSchema('Thing', '1.3'),))
    assert snapshot.of_classes([cls], known=known).schema('Thing', '1.3')


@pytest.mark.usefixtures('registry')
def test_snapshot_of_ovo_class_has_the_newest_version_only() -> None:
    (schema,) = snapshot.of_classes(
        [
            ovo_class(
                version='1.7',
                a=fields.FlexibleBooleanField(default=False),
                b=fields.DictOfNullableStringsField(nullable=True),
            )
        ]
    ).schemas
    assert next(iter(text.block(schema))) == '[type.Thing."1.7"]'
    assert [text.field_text(field) for field in schema.fields] == [
        'a: FlexibleBoolean = false',
        'b: Dict(String(nullable=true)) | null',
    ]
    lock = Lock(schemas=(schema,))
    assert parse.parse(text.dump(lock)) == lock


@pytest.mark.parametrize(
    'name', ['no.such.module', 'vobjects:nothing', 'vobjects.versions:FIRST']
)
def test_load_when_import_fails_raises(name: str) -> None:
    with pytest.raises(LockError, match=f'cannot import {name}'):
        snapshot.load([name])


@pytest.mark.parametrize('base', ['Exception', 'BaseException'])
def test_load_when_an_error_cannot_be_printed_raises(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, base: str
) -> None:
    (tmp_path / f'raises_{base}.py').write_text(
        f'class Odd({base}):\n'
        '    def __str__(self):\n'
        '        raise ValueError\n'
        'raise Odd\n'
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(LockError, match=r'raises_.*: Odd: \(no text'):
        snapshot.load([f'raises_{base}'])


def test_load_when_a_declaration_is_wrong_gives_only_its_fix(
    registry: None, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / 'wrong_declaration.py').write_text(
        'import vobjects\n'
        '@vobjects.register\n'
        'class Order(vobjects.Request):\n'
        "    VERSION = '1.1'\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(LockError) as caught:
        snapshot.load(['wrong_declaration'])
    assert str(caught.value) == (
        "cannot import wrong_declaration: Order.VERSION_MAP ends at '1.0' but"
        " VERSION is '1.1'; add the microversion that shows '1.1'"
    )
