# SPDX-License-Identifier: Apache-2.0
"""Handle fields in a primitive that its stated version does not have.

oslo.versionedobjects drops them silently. Here, a receiver that acts on the
data rejects them; a reader stores them separately and logs a warning.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Literal

from vobjects import exceptions
from vobjects.versions import Version

LOG = logging.getLogger('vobjects')

UnknownFieldPolicy = Literal['refuse', 'keep']

#: Attribute of an object that holds its unknown fields.
ATTRIBUTE = '_unknown_fields'

#: Limit of the warnings that are remembered: peers choose the names of fields.
MAX_WARNINGS = 1000
_warned: set[tuple[str, ...]] = set()


def handle(
    cls: Any, data: Mapping[str, Any], known: frozenset[str], version: Version
) -> dict[str, Any]:
    """Return the unknown fields of a primitive, or reject them.

    :param data: of the primitive
    :param known: the fields of the version that the primitive states
    :param version: that version
    :returns: the unknown fields, if the class keeps them
    :raises vobjects.exceptions.UnknownField: the class rejects them
    """
    if known.issuperset(data):
        return {}
    unknown = {key: data[key] for key in data if key not in known}
    name = cls.obj_name()
    if cls.UNKNOWN_FIELDS == 'refuse':
        raise exceptions.UnknownField(name, next(iter(unknown)), version)
    for field in unknown:
        warn_once(
            '%s %s arrived with the field %s, which this version does not'
            ' have; it is stored in obj_unknown_fields',
            name,
            str(version),
            exceptions.cut(str(field)),
        )
    return unknown


def warn_once(message: str, *arguments: str) -> None:
    """Log a warning, unless the same one has been logged."""
    key = (message, *arguments)
    if key not in _warned and len(_warned) < MAX_WARNINGS:
        _warned.add(key)
        LOG.warning(message, *arguments)
