# SPDX-License-Identifier: Apache-2.0
"""Primitives of any version to objects of ours: one function a version."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vobjects.codec import down, methods
from vobjects.codec.compiled import Compiled


def reader(form: Compiled, version: str) -> methods.Reader:
    """Return ``_obj_from_primitive`` of a class for one version.

    :raises vobjects.exceptions.InvalidVersion: it is none
    """
    cls: Any = form.cls
    upgrade = down.upgrade_from(form, version)

    def check(data: dict[str, Any]) -> None:
        if not upgrade.known.issuperset(data):
            cls._check_known(data, upgrade.source)

    read = methods.reader(
        form,
        version,
        cls.VERSION,
        cls._read_slowly,
        check,
        complete=form.names <= upgrade.known,
    )
    if not upgrade.empty:
        read = _upgrading(form, upgrade, check)
    if len(form.readers) < down.MAX_VERSIONS:
        form.readers[version] = read
    return read


def _upgrading(
    form: Compiled,
    upgrade: down.Upgrade,
    check: Callable[[dict[str, Any]], None],
) -> methods.Reader:
    """Return what reads an older version, whose fields are not ours."""
    cls: Any = form.cls
    data_key, changes_key = form.data_key, form.changes_key

    def read(context: Any, primitive: dict[str, Any]) -> Any:
        data = dict(primitive[data_key])
        check(data)
        upgrade.plan.apply(data, refuse_loss=cls.REFUSE_LOSS)
        changes = [
            upgrade.names.get(name, name)
            for name in primitive.get(changes_key, ())
        ]
        return methods.hydrate(form, context, cls.VERSION, data, changes)

    return read
