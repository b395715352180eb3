# SPDX-License-Identifier: Apache-2.0
"""Compare the attributes that requests of two releases may have.

A module declares them by collection, such as ``{'orders': {'size':
{'allow_post': True, 'default': 1}}}``. Others add attributes to it.
"""

from __future__ import annotations

from collections.abc import Iterator

from vobjects_releases.findings import Finding, Rule
from vobjects_releases.schemas import Schemas

DEFAULT = Rule(
    'ATTRIBUTE_HAS_DEFAULT',
    'A new attribute of a request has a default.',
)

RULES = (DEFAULT,)


def compare(old: Schemas, new: Schemas) -> Iterator[Finding]:
    """Yield the attributes that clients of the older release do not send."""
    known = {
        collection: attributes.keys()
        for _, collection, attributes in _collections(old)
        if 'id' in attributes  # else it adds to the collection
    }
    for path, collection, attributes in _collections(new) if known else ():
        required = _required(attributes)
        for name in sorted(required - known.get(collection, required)):
            text = 'has no default, but clients that do not know it omit it'
            yield Finding(DEFAULT, f'{collection}.{name}', '', text, path)


def _required(attributes: dict[str, dict[str, object]]) -> set[str]:
    return {
        name
        for name, spec in attributes.items()
        if spec.get('allow_post') is True and not spec.keys() & {'default', ''}
    }


def _collections(
    schemas: Schemas,
) -> Iterator[tuple[str, str, dict[str, dict[str, object]]]]:
    """Yield the attributes that a file declares for a collection."""
    for module in schemas.tree.modules.values():
        if 'allow_post' in module.source:
            for table in schemas.assigned(module).values():
                for name, entry in _entries(table):
                    yield str(module.path), name, dict(_entries(entry))


def _entries(value: object) -> Iterator[tuple[str, dict[str, object]]]:
    if isinstance(value, dict):
        for name, item in value.items():
            if name and isinstance(item, dict):
                yield name, item
