# SPDX-License-Identifier: Apache-2.0
"""Types of plain oslo.versionedobjects."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any, reveal_type

from oslo_versionedobjects import base, fields


class Registry(base.VersionedObjectRegistry):
    """The registry of a service."""


class Mixin:
    """Fields that the plug-in does not see."""

    fields: MutableMapping[str, fields.Field[Any]] = {
        'unseen': fields.StringField()
    }


@Registry.register
class Host(base.TimestampedObject, base.VersionedObject):
    fields = {
        'name': fields.StringField(nullable=True),
        'tags': fields.DictOfListOfStringsField(),
        'stages': fields.Field(fields.List(fields.String())),
    }


@Registry.register
class Hosts(base.ObjectListBase, base.VersionedObject):  # reports: type-arg
    fields = {'objects': fields.ListOfObjectsField('Host')}


@Registry.register
class Mixed(Mixin, base.VersionedObject):
    fields = {'name': fields.StringField()}


@Registry.register
class Computed(base.VersionedObject):
    fields = {name: fields.StringField() for name in ('one', 'two')}


@Registry.register
class Own(base.VersionedObject):
    fields = {'name': fields.StringField()}

    def __init__(self, name: str, context: Any = None) -> None:
        super().__init__(context, name=name)


def use(value: object) -> None:
    """Use a value."""


def read(
    host: Host, hosts: Hosts, mixed: Mixed, computed: Computed, own: Own
) -> None:
    reveal_type(host.name)  # reveals: str | None
    reveal_type(host.created_at)  # reveals: datetime.datetime | None
    reveal_type(host.tags)  # reveals: dict[str, list[str]]
    reveal_type(host.stages)  # reveals: list[str]
    reveal_type(hosts[0])  # reveals: samples.ovo_types.Host
    reveal_type(mixed.name)  # reveals: str
    reveal_type(mixed.unseen)  # reveals: Any
    reveal_type(computed.one)  # reveals: Any
    reveal_type(own.name)  # reveals: str
    use(host.nmae)  # reports: attr-defined
    Host(name='h', created_at=None)
    Host(nmae='h')  # reports: call-arg
    Mixed(unseen='u', name='m')
    Mixed(unseen='u', name=3)  # reports: arg-type
    Own('o')
    Own()  # reports: call-arg
