# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses
import functools
import importlib.metadata
import itertools
import pathlib
from typing import Any

import pytest

from tests.releases import lock_with_releases
from tests.unit.vobjects.lock.factories import released_lock, vobjects_type
from vobjects import fields, objects, service
from vobjects.cli import main
from vobjects.clustering import history, types
from vobjects.lock import installed_locks, parse
from vobjects.lock.model import Lock
from vobjects.objects.history import added, changed, removed, renamed
from vobjects.versions import Version
from vobjects_testing import matrix
from vobjects_testing.matrix import Cell

pytestmark = pytest.mark.usefixtures('service_types')

TYPES = types

MICROVERSIONS = [Version.parse(text) for text in history.HISTORY]


def installed_lock() -> Lock:
    return installed_locks.of_service('clustering')


def newest_cell(lock: Lock) -> Cell:
    """Return the cell of the newest release and its newest microversion."""
    mapped = [s.microversion for s in lock.released().schemas]
    newest = max(Version.parse(text) for text in mapped if text)
    return list(matrix.matrix(lock, [newest]))[-1]


@functools.cache
def installed_cells() -> dict[tuple[str, Version], Cell]:
    """Return the cells of the installed lock."""
    return {
        (cell.release, cell.microversion): cell
        for cell in matrix.matrix(installed_lock(), MICROVERSIONS)
    }


@pytest.mark.parametrize('microversion', MICROVERSIONS, ids=str)
@pytest.mark.parametrize('release', installed_lock().releases)
def test_matrix_of_the_service_has_no_broken_cell(
    release: str, microversion: Version
) -> None:
    cell = installed_cells()[release, microversion]
    assert cell.outcome != 'broken', cell.notes
    assert cell.notes if cell.outcome == 'refused' else cell.requests > 10


@pytest.mark.parametrize('newest', ['1.1', '1.6', '1.7', '1.12'])
def test_matrix_when_release_is_older_refuses_newer_microversions(
    newest: str,
) -> None:
    limit = Version.parse(newest)
    cells = list(
        matrix.matrix(lock_with_releases({'0.0.9': limit}), MICROVERSIONS)
    )
    for cell in cells:
        expected = 'served' if cell.microversion <= limit else 'refused'
        if expected == 'served':
            assert cell.outcome == 'served', cell.notes
        elif cell.outcome == 'refused':
            assert 'release 0.0.9' in cell.notes[0]
    assert cells[-1].outcome == 'refused'


def test_matrix_of_several_releases_has_the_maximum_of_each() -> None:
    limits = {'0.0.8': Version(1, 6), '0.0.9': Version(1, 9)}
    cells = matrix.matrix(lock_with_releases(limits), MICROVERSIONS)

    assert {
        release: max(c.microversion for c in group if c.outcome == 'served')
        for release, group in itertools.groupby(cells, lambda c: c.release)
    } == limits


def test_matrix_when_response_omits_a_field_reports_the_loss() -> None:
    """A lock in which a resource lacks a field, but has its version."""
    lock = installed_lock()
    node = lock.schema('Node', '1.1')
    assert node is not None
    without = dataclasses.replace(
        node, fields=tuple(f for f in node.fields if f.name != 'tainted')
    )
    lock = dataclasses.replace(
        lock,
        schemas=tuple(without if s == node else s for s in lock.schemas),
    )
    newest = newest_cell(lock)
    assert newest.losses == ('Node.tainted',)
    assert any('omit Node.tainted' in x for x in newest.details)


def test_matrix_when_engine_rejects_a_request_is_broken() -> None:
    """A lock in which 1.1 of a request lacks a field that the API sends."""
    lock = installed_lock()
    deletion = lock.schema('ClusterDeleteRequest', '1.1')
    assert deletion is not None
    lock = dataclasses.replace(
        lock,
        schemas=tuple(
            dataclasses.replace(schema, fields=schema.fields[1:])
            if schema == deletion
            else schema
            for schema in lock.schemas
        ),
    )
    newest = newest_cell(lock)
    assert newest.outcome == 'broken'
    assert newest.notes[0].startswith('ClusterDeleteRequest: UnknownField')


def test_command_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(['matrix']) == 0
    lines = capsys.readouterr().out.splitlines()
    assert '1.14' in ' '.join(line.split()[0] for line in lines)
    assert main.main(['matrix', '--service', 'nothing']) == 2


@pytest.mark.parametrize(
    ('names', 'message'),
    [
        (['clustering', 'keys'], 'several services are installed: clustering'),
        ([], 'no service is installed'),
    ],
)
def test_command_without_service_when_not_one_is_installed_fails(
    names: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    installed = importlib.metadata.entry_points

    def entry_points(*, group: str) -> importlib.metadata.EntryPoints:
        if group != service.GROUP:
            return installed(group=group)
        return importlib.metadata.EntryPoints(
            importlib.metadata.EntryPoint(name, 'package', group)
            for name in names
        )

    monkeypatch.setattr(importlib.metadata, 'entry_points', entry_points)

    assert main.main(['matrix']) == 2
    assert message in capsys.readouterr().err


def test_installed_lock_is_that_of_the_repository() -> None:
    top = pathlib.Path(__file__).parents[4] / 'vobjects.lock'
    assert installed_lock() == parse.load(top)


def shop_cells(microversions: list[str], *classes: Any) -> list[Cell]:
    """Return the cells of registered classes with their only release."""
    versions = [Version.parse(text) for text in microversions]
    return list(matrix.matrix(released_lock(*classes), versions))


def newer(parent: type[objects.Object]) -> dict[str, Any]:
    """Return options of a type with version 1.1 at microversion 1.2."""
    return {
        'version': '1.1',
        'parent': parent,
        'version_map': {'1.2': '1.1'},
    }


def assert_rejected_before(field: str, *classes: Any) -> None:
    """Assert that requests reject a field at 1.1, and nothing at 1.2."""
    old, new = shop_cells(['1.1', '1.2'], *classes)

    assert (old.outcome, old.rejected) == ('served', (field,))
    assert old.details == (f'requests reject {field}',)
    assert (new.outcome, new.rejected, new.details) == ('served', (), ())


@pytest.mark.usefixtures('registry')
def test_matrix_when_type_has_dropped_a_field_reports_its_rejection() -> None:
    cls = vobjects_type(
        **newer(objects.Request),
        name=fields.StringField(),
        legacy=removed(
            '1.1', fields.StringField(nullable=True), dropped='1.1'
        ),
    )

    assert_rejected_before('Thing.legacy', cls)


@pytest.mark.usefixtures('registry')
@pytest.mark.parametrize('nullable', [True, False])
def test_matrix_when_a_sample_cannot_be_converted_reports_its_field(
    nullable: bool,
) -> None:
    """If the field is required, the request cannot be sent without it."""
    cls = vobjects_type(
        **newer(objects.Request),
        count=changed(
            '1.1',
            fields.StringField(nullable=nullable),
            fields.IntegerField(nullable=nullable),
            up=int,
            down=str,
        ),
    )

    assert_rejected_before('Thing.count', cls)


@pytest.mark.usefixtures('registry')
@pytest.mark.parametrize('dropped', ['blue', 'green', 'red'])
@pytest.mark.parametrize('is_nested', [False, True])
def test_matrix_when_one_value_of_an_enum_is_rejected_reports_its_field(
    dropped: str, is_nested: bool
) -> None:
    kept = [color for color in ('blue', 'green', 'red') if color != dropped]
    cls = vobjects_type(
        **newer(objects.Object if is_nested else objects.Request),
        color=changed(
            '1.1',
            fields.EnumField(['blue', 'green', 'red'], nullable=True),
            fields.EnumField(kept, nullable=True),
            up=str,
            down=str,
        ),
    )
    classes = [cls]
    if is_nested:
        things = {'things': fields.ListOfObjectsField('Thing')}
        request = type('ListRequest', (objects.Request,), {'fields': things})
        classes.append(objects.register(request))

    assert_rejected_before('Thing.color', *classes)


@pytest.mark.usefixtures('registry')
@pytest.mark.parametrize('missing', ['blue', 'red'])
def test_matrix_when_an_engine_lacks_a_value_of_an_enum_is_broken(
    missing: str,
) -> None:
    colors = ['blue', 'green', 'red']
    kept = [color for color in colors if color != missing]
    lock = released_lock(
        vobjects_type(parent=objects.Request, color=fields.EnumField(kept))
    )
    vobjects_type(parent=objects.Request, color=fields.EnumField(colors))

    (cell,) = matrix.matrix(lock, [Version(1, 0)])

    assert cell.outcome == 'broken'
    assert missing in cell.notes[0]


def short_text(number: int) -> str:
    if number > 9:
        raise ValueError('too long')
    return str(number)


@pytest.mark.usefixtures('registry')
def test_matrix_when_a_default_replaces_a_required_sample_sends_nothing() -> (
    None
):
    """The default cannot be converted, but no client omits the field."""
    cls = vobjects_type(
        **newer(objects.Request),
        count=changed(
            '1.1',
            fields.StringField(),
            fields.IntegerField(default=70),
            up=int,
            down=short_text,
        ),
    )

    assert_rejected_before('Thing.count', cls)


@pytest.mark.usefixtures('registry')
def test_matrix_when_nested_object_rejects_a_value_names_its_type() -> None:
    part = vobjects_type(
        **newer(objects.Object),
        legacy=removed(
            '1.1', fields.StringField(nullable=True), dropped='1.1'
        ),
        name=fields.StringField(),
    )
    request = objects.register(
        type(
            'PartsRequest',
            (objects.Request,),
            {'fields': {'parts': fields.ListOfObjectsField('Thing')}},
        )
    )

    assert_rejected_before('Thing.legacy', part, request)


@pytest.mark.usefixtures('registry')
def test_matrix_when_response_has_a_renamed_field_reports_no_loss() -> None:
    cls = vobjects_type(
        version='1.2',
        parent=objects.Resource,
        version_map={'1.2': '1.1', '1.3': '1.2'},
        size_gb=renamed('1.1', 'size', fields.IntegerField()),
        kind=added('1.2', fields.StringField(nullable=True)),
    )

    cells = shop_cells(['1.1', '1.2', '1.3'], cls)

    assert [(cell.outcome, cell.losses) for cell in cells] == [
        ('served', ())
    ] * 3
