# SPDX-License-Identifier: Apache-2.0
"""Convert the data of primitives of any version to the newest version."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from vobjects.field_values import map_objects
from vobjects.objects import history, unknown_fields
from vobjects.objects.codec.class_codec import MAX_VERSIONS, ClassCodec
from vobjects.objects.conversion_plan import ConversionPlan
from vobjects.versions import Version


class Upgrade:
    """How to convert data of one version of a class to the newest.

    :ivar keeps_all: whether data with exactly the fields of the newest
        version stays the same
    """

    __slots__ = (
        '_cls',
        '_dropped',
        '_is_noop',
        '_known_fields',
        '_new_names',
        '_plan',
        '_source',
        'keeps_all',
    )

    def __init__(self, cls: Any, version: str) -> None:
        self._cls = cls
        self._source = Version.parse(version)
        timeline: history.History = cls._history
        self._known_fields = frozenset(timeline.wire_fields_at(self._source))
        plan = timeline.plan(self._source, timeline.version)
        self._is_noop = plan.only_drops and not plan.drops
        self._plan = plan
        self.keeps_all = self._is_noop and self._known_fields == {*cls.fields}
        self._dropped = frozenset(drop.name for drop in plan.drops)
        self._new_names = plan.new_names

    def apply(
        self, data: Mapping[str, Any], changes: Iterable[str]
    ) -> tuple[Mapping[str, Any], Iterable[str], dict[str, Any]]:
        """Return data and changes at the newest version, and unknown fields.

        :raises vobjects.exceptions.UnknownField: the version lacks a field
            and the class refuses unknown fields
        """
        unknown = unknown_fields.handle(
            self._cls, data, self._known_fields, self._source
        )
        if not unknown and self._is_noop:
            return data, changes, unknown
        upgraded = {key: data[key] for key in data if key not in unknown}
        if not self._is_noop:
            renew_objects(self._cls, self._plan, upgraded)
            self._plan.apply(upgraded, refuse_loss=self._cls.REFUSE_LOSS)
        names = self._new_names
        return (
            upgraded,
            [
                new_name
                for name in changes
                if name not in unknown
                and name not in self._dropped
                and (new_name := names.get(name, name)) in upgraded
            ],
            unknown,
        )


def renew_objects(
    cls: Any, plan: ConversionPlan, data: dict[str, Any]
) -> None:
    """Upgrade the objects that converters read, who expect the newest."""

    def renew(_type: Any, primitive: Any, _path: Any) -> Any:
        return cls.obj_from_primitive(primitive).obj_to_primitive()

    for name, field_type in plan.old_objects.items():
        if name in data:
            data[name] = map_objects(field_type, data[name], renew)


def upgrade_from(codec: ClassCodec, version: str) -> Upgrade:
    """Return how to convert data of a version of a class.

    :raises vobjects.exceptions.InvalidVersion: the version is malformed
    """
    upgrade: Upgrade | None = codec.upgrades.get(version)
    if upgrade is None:
        upgrade = Upgrade(codec.cls, version)
        if len(codec.upgrades) < MAX_VERSIONS:
            codec.upgrades[version] = upgrade
    return upgrade
