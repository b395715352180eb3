# SPDX-License-Identifier: Apache-2.0
"""Read primitives of any version, with one function per version."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from vobjects.objects import unknown_fields
from vobjects.objects.codec import downgrade, ovo_methods
from vobjects.objects.codec.compiled import Compiled


def reader(form: Compiled, version: str) -> ovo_methods.Reader:
    """Return ``_obj_from_primitive`` of a class for one version.

    :raises vobjects.exceptions.InvalidVersion: the version is malformed
    """
    cls: Any = form.cls
    upgrade = downgrade.upgrade_from(form, version)
    complete = form.names <= upgrade.known

    def check(made: Any, data: dict[str, Any]) -> None:
        aside = unknown_fields.meet(cls, data, upgrade.known, upgrade.source)
        if aside:
            made.__dict__[unknown_fields.ATTRIBUTE] = aside

    read = ovo_methods.reader(
        form,
        version,
        cls.VERSION,
        cls._read_slowly,
        check,
        complete=complete,
    )
    # If an older version lacks a field, the field is unknown in its data.
    strict = complete or cls.UNKNOWN_FIELDS == 'refuse'
    if not (upgrade.empty and strict):
        read = _upgrading(form, upgrade)
    if len(form.readers) < downgrade.MAX_VERSIONS:
        form.readers[version] = read
    return read


def _upgrading(
    form: Compiled, upgrade: downgrade.Upgrade
) -> ovo_methods.Reader:
    """Return a reader of an older version whose fields differ."""
    cls: Any = form.cls
    data_key, changes_key = form.data_key, form.changes_key

    def read(context: Any, primitive: dict[str, Any]) -> Any:
        data, changes, aside = upgraded(
            cls, upgrade, primitive[data_key], primitive.get(changes_key, ())
        )
        made = ovo_methods.hydrate(form, context, cls.VERSION, data, changes)
        if aside:
            made.__dict__[unknown_fields.ATTRIBUTE] = aside
        return made

    return read


def upgraded(
    cls: Any,
    upgrade: downgrade.Upgrade,
    data: dict[str, Any],
    changes: Iterable[str],
) -> tuple[dict[str, Any], list[str], dict[str, Any]]:
    """Return data and changes at the newest version, and unknown fields.

    :raises vobjects.exceptions.UnknownField: the stated version lacks a field
        and the class refuses unknown fields
    """
    aside = unknown_fields.meet(cls, data, upgrade.known, upgrade.source)
    data = {key: data[key] for key in data if key not in aside}
    upgrade.plan.apply(data, refuse_loss=cls.REFUSE_LOSS)
    renamed = upgrade.names
    return (
        data,
        [renamed.get(name, name) for name in changes if name not in aside],
        aside,
    )
