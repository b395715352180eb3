# SPDX-License-Identifier: Apache-2.0
"""Remotable methods of adopted types, through an indirection API."""

from __future__ import annotations

from typing import Any

import pytest
from oslo_versionedobjects import base, fields

from vobjects.objects.adoption import adopt

pytestmark = pytest.mark.usefixtures('registry')


class Conductor(base.VersionedObjectIndirectionAPI):
    """Calls methods as a conductor does, and records the calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def object_action(
        self,
        context: Any,
        objinst: Any,
        objmethod: str,
        args: Any,
        kwargs: Any,
    ) -> Any:
        sent = objinst.obj_to_primitive()
        self.calls.append((objmethod, sent, args, kwargs))
        cls = type(objinst)
        there = cls.obj_from_primitive(sent, context)
        there.indirection_api = None
        result = getattr(there, objmethod)(*args, **kwargs)
        changes = {
            name: there.fields[name].to_primitive(
                there, name, getattr(there, name)
            )
            for name in there.fields
            if there.obj_attr_is_set(name)
        }
        changes['obj_what_changed'] = there.obj_what_changed()
        return changes, result

    def object_class_action_versions(
        self,
        context: Any,
        objname: str,
        objmethod: str,
        object_versions: Any,
        args: Any,
        kwargs: Any,
    ) -> Any:
        self.calls.append((objname, objmethod, object_versions, args, kwargs))
        return objname

    def object_backport_versions(
        self, context: Any, objinst: Any, object_versions: Any
    ) -> Any:
        self.calls.append((objinst, object_versions))
        return 'backported'


def types() -> tuple[Any, Any]:
    """Register a type with remotable methods; return its base and it."""

    class Root(base.VersionedObject):
        OBJ_PROJECT_NAMESPACE = 'kiosk'

    @base.VersionedObjectRegistry.register
    class Order(Root):
        VERSION = '1.2'
        fields = {
            'name': fields.StringField(),
            'total': fields.IntegerField(default=0),
        }

        @base.remotable
        def add(self, amount: int) -> str:
            self.total += amount
            return 'added'

        @classmethod
        @base.remotable
        def get(cls, context: Any, name: str) -> Any:
            return cls(context, name=name)

    return Root, Order


def outcome() -> list[Any]:
    """Return what callers and the conductor see of each method."""
    root, order = types()
    conductor = Conductor()
    root.indirection_api = conductor
    obj = order('context', name='a', total=1)
    obj.obj_reset_changes()
    obj.name = 'b'
    results = [obj.add(2), obj.obj_what_changed(), obj.obj_to_primitive()]
    results.append(order.get('context', 'x'))

    class Serializer(base.VersionedObjectSerializer):
        OBJ_BASE_CLASS = root

    newer = order(name='c').obj_to_primitive()
    newer['versioned_object.version'] = '1.3'
    results.append(Serializer().deserialize_entity('context', newer))
    return [*results, *conductor.calls]


def test_remotable_methods_of_adopted_types_are_as_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    original = outcome()
    base.VersionedObjectRegistry()._obj_classes.clear()
    register = base.VersionedObjectRegistry.register

    def register_and_adopt(cls: Any) -> Any:
        (adopted,) = adopt([register(cls)])
        return adopted

    monkeypatch.setattr(
        base.VersionedObjectRegistry, 'register', register_and_adopt
    )

    adopted = outcome()

    assert adopted == original
    assert original[0] == 'added'
    assert original[2]['versioned_object.data'] == {'name': 'b', 'total': 3}
    assert 'backported' in original
