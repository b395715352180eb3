# SPDX-License-Identifier: Apache-2.0
"""Read primitives of any version, with one function per version."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from vobjects.objects import unknown_fields
from vobjects.objects.codec import downgrade, ovo_methods
from vobjects.objects.codec.class_codec import ClassCodec, Reader


def reader_for(codec: ClassCodec, version: str) -> Reader:
    """Return ``_obj_from_primitive`` of a class for one version.

    :raises vobjects.exceptions.InvalidVersion: the version is malformed
    """
    cls: Any = codec.cls
    upgrade = downgrade.upgrade_from(codec, version)
    complete = codec.names <= upgrade.known_fields

    def check(obj: Any, data: dict[str, Any]) -> None:
        unknown = unknown_fields.handle(
            cls, data, upgrade.known_fields, upgrade.source
        )
        if unknown:
            obj.__dict__[unknown_fields.ATTRIBUTE] = unknown

    read = ovo_methods.make_reader(
        codec,
        version,
        cls.VERSION,
        cls._read_uncompiled,
        check,
        complete=complete,
    )
    # If an older version lacks a field, the field is unknown in its data.
    strict = complete or cls.UNKNOWN_FIELDS == 'refuse'
    if not (upgrade.is_noop and strict):
        read = _upgrading(codec, upgrade)
    if len(codec.readers) < downgrade.MAX_VERSIONS:
        codec.readers[version] = read
    return read


def _upgrading(codec: ClassCodec, upgrade: downgrade.Upgrade) -> Reader:
    """Return a reader of an older version whose fields differ."""
    cls: Any = codec.cls
    data_key, changes_key = codec.data_key, codec.changes_key

    def read(context: Any, primitive: dict[str, Any]) -> Any:
        data, changes, unknown = upgrade_data(
            cls, upgrade, primitive[data_key], primitive.get(changes_key, ())
        )
        obj = ovo_methods.hydrate(codec, context, cls.VERSION, data, changes)
        if unknown:
            obj.__dict__[unknown_fields.ATTRIBUTE] = unknown
        return obj

    return read


def upgrade_data(
    cls: Any,
    upgrade: downgrade.Upgrade,
    data: dict[str, Any],
    changes: Iterable[str],
) -> tuple[dict[str, Any], list[str], dict[str, Any]]:
    """Return data and changes at the newest version, and unknown fields.

    :raises vobjects.exceptions.UnknownField: the stated version lacks a field
        and the class refuses unknown fields
    """
    unknown = unknown_fields.handle(
        cls, data, upgrade.known_fields, upgrade.source
    )
    data = {key: data[key] for key in data if key not in unknown}
    upgrade.plan.apply(data, refuse_loss=cls.REFUSE_LOSS)
    renamed = upgrade.new_names
    return (
        data,
        [renamed.get(name, name) for name in changes if name not in unknown],
        unknown,
    )
