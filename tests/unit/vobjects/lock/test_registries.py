# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import collections
import pathlib
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import fields as ovo

from tests.unit.vobjects.lock.factories import ovo_class
from vobjects.lock import registries, snapshot

pytestmark = pytest.mark.usefixtures('registry')


@pytest.fixture
def separate_registry() -> Iterator[type[ovo_base.VersionedObjectRegistry]]:
    """A registry with separate classes, like that of Neutron."""
    classes: Any = collections.defaultdict(list)

    class SeparateRegistry(ovo_base.VersionedObjectRegistry):
        def __new__(cls) -> Any:
            registry = object.__new__(cls)
            registry._obj_classes = classes
            return registry

    yield SeparateRegistry
    # The parent lists the class as long as a reference to it exists.
    classes.clear()


def test_registered_includes_separate_registries(
    separate_registry: type[ovo_base.VersionedObjectRegistry],
) -> None:
    class SharedRegistry(ovo_base.VersionedObjectRegistry):
        """Like that of most services: with the classes of its parent."""

    shared = ovo_class(version='1.4')
    own = type(
        'Thing',
        (ovo_base.VersionedObject,),
        {'VERSION': '1.2', 'fields': {}, '__module__': __name__},
    )
    separate_registry.register(own)

    assert SharedRegistry.obj_classes() is not separate_registry.obj_classes()
    assert registries.registered() == {'Thing': [own, shared]}
    assert registries.newest('Thing') is own
    assert registries.class_of('Thing', '1.4') is shared
    assert [*snapshot.classes_of([__name__])] == [own]
    assert registries.newest('Nothing') is None
    with pytest.raises(LookupError, match=r'no class Thing 1\.3'):
        registries.class_of('Thing', '1.3')


@pytest.fixture
def package(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """A package that does not import its modules."""
    for name in ('', 'inner'):
        directory = tmp_path / 'spread' / name
        directory.mkdir(exist_ok=True)
        (directory / '__init__.py').touch()
    for path, name in (('order.py', 'Order'), ('inner/bill.py', 'Bill')):
        (tmp_path / 'spread' / path).write_text(
            'from oslo_versionedobjects import base\n\n'
            '@base.VersionedObjectRegistry.register\n'
            f'class {name}(base.VersionedObject):\n    fields = {{}}\n'
        )
    monkeypatch.syspath_prepend(tmp_path)
    yield 'spread'
    for name in [name for name in sys.modules if name.startswith('spread')]:
        del sys.modules[name]


def test_load_of_package_imports_all_modules(package: str) -> None:
    registries.load(package)
    assert not registries.registered()

    registries.load(f'{package}.*')

    assert registries.registered().keys() == {'Order', 'Bill'}
    assert registries.top_level_package(f'{package}.*') == package
    with pytest.raises(ImportError, match='order is not a package'):
        registries.load('spread.order.*')


def test_nested_types_includes_those_in_containers() -> None:
    cls = ovo_class(
        a=ovo.ObjectField('One'),
        b=ovo.ListOfObjectsField('Two'),
        c=ovo.Field(ovo.Dict(ovo.List(ovo.Object('Three')))),
        d=ovo.StringField(),
    )
    assert registries.nested_types(cls) == {'One', 'Two', 'Three'}
