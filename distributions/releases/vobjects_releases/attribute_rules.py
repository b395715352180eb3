# SPDX-License-Identifier: Apache-2.0
"""Compare the attributes of resources of two releases.

A module declares them as a dictionary by collection and attribute, such as
``{'orders': {'size': {'allow_post': True, 'default': 1}}}``. Other modules
may add attributes to the collection.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from vobjects_releases.findings import Finding, Rule
from vobjects_releases.schemas import Schemas

DEFAULT = Rule(
    'ATTRIBUTE_HAS_DEFAULT',
    'A new attribute that requests may have is one that they need not have:'
    ' it has a default.',
)

RULES = (DEFAULT,)


class Attribute(NamedTuple):
    """An attribute that a request must have.

    :ivar name: with its collection
    """

    name: str
    location: str


def compare(old: Schemas, new: Schemas) -> Iterator[Finding]:
    """Yield the attributes that clients of the older release do not send."""
    known = {
        collection: {item.name for item in required}
        for collection, is_whole, required in _collections(old)
        if is_whole
    }
    for collection, _, required in _collections(new) if known else ():
        for item in required:
            if item.name not in known.get(collection, {item.name}):
                yield Finding(
                    DEFAULT,
                    item.name,
                    '',
                    'has no default, but clients that do not know the'
                    ' attribute leave it out when they create an object',
                    item.location,
                )


def _collections(
    schemas: Schemas,
) -> Iterator[tuple[str, bool, list[Attribute]]]:
    """Yield collections, whether these are all attributes, and some of them.

    Other modules only add to a collection.
    """
    for module in schemas.tree.modules.values():
        if 'allow_post' not in module.source:
            continue
        for table in schemas.assigned(module).values():
            for collection, attributes in _entries(table):
                specs = dict(_entries(attributes))
                required = [
                    Attribute(f'{collection}.{name}', str(module.path))
                    for name, spec in specs.items()
                    if spec.get('allow_post') is True
                    and not spec.keys() & {'default', ''}
                ]
                yield collection, 'id' in specs, required


def _entries(value: object) -> Iterator[tuple[str, dict[str, object]]]:
    if isinstance(value, dict):
        for name, item in value.items():
            if name and isinstance(item, dict):
                yield name, item
