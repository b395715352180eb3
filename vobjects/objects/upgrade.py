# SPDX-License-Identifier: Apache-2.0
"""Convert the data of primitives of any version to the newest version."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from vobjects.field_values import map_objects
from vobjects.objects import history, unknown_fields
from vobjects.objects.conversion_plan import ConversionPlan
from vobjects.versions import Version


class Upgrade:
    """How to convert data of one version of a class to the newest.

    :ivar keeps_all: whether data with exactly the fields of the newest
        version stays the same
    :raises vobjects.exceptions.InvalidVersion: the version is malformed
    """

    __slots__ = ('_cls', '_is_noop', '_known', '_names', '_plan', 'keeps_all')

    def __init__(self, cls: Any, version: str) -> None:
        source = Version.parse(version)
        timeline: history.History = cls._history
        self._cls = cls
        self._known = frozenset(timeline.wire_fields_at(source))
        self._plan = plan = timeline.plan(source, timeline.version)
        self._is_noop = plan.only_drops and not plan.drops
        self.keeps_all = self._is_noop and self._known == {*cls.fields}
        # Name -> new name, which is None for a dropped field.
        self._names: dict[str, str | None] = {
            name: plan.new_names.get(name, name) for name in self._known
        }
        self._names.update(dict.fromkeys(drop.name for drop in plan.drops))

    def apply(
        self, data: Mapping[str, Any], changes: Iterable[str]
    ) -> tuple[Mapping[str, Any], Iterable[str], dict[str, Any]]:
        """Return data and changes at the newest version, and unknown fields.

        :raises vobjects.exceptions.UnknownField: the version lacks a field
            and the class refuses unknown fields
        """
        plan = self._plan
        unknown = unknown_fields.handle(
            self._cls, data, self._known, plan.source
        )
        if not unknown and self._is_noop:
            return data, changes, unknown
        upgraded = {key: data[key] for key in data if key not in unknown}
        renew_objects(self._cls, plan, upgraded)
        plan.apply(upgraded, refuse_loss=self._cls.REFUSE_LOSS)
        new_names = map(self._names.get, changes)
        changes = [name for name in new_names if name in upgraded]
        return upgraded, changes, unknown


def renew_objects(
    cls: Any, plan: ConversionPlan, data: dict[str, Any]
) -> None:
    """Upgrade the objects that converters read, who expect the newest."""

    def renew(_type: Any, primitive: Any, _path: Any) -> Any:
        return cls.obj_from_primitive(primitive).obj_to_primitive()

    for name, field_type in plan.old_objects.items():
        if name in data:
            data[name] = map_objects(field_type, data[name], renew)
