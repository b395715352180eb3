# SPDX-License-Identifier: Apache-2.0
"""What Senlin's controllers say of a body or a query they cannot read.

Of fields and their values see :mod:`vobjects.microversions.words`. Controllers
differ in quotes and full stops, and who compares sentences relies on that.
"""

from __future__ import annotations

from collections.abc import Collection

from vobjects import exceptions

_CLUSTERS = '/v1/clusters'
_NODES = '/v1/nodes'
_NO_PARAMETER = 'Invalid parameter '

#: What the one key of a body names -> how both are called.
ACTION = ('action', 'actions')
OPERATION = ('operation', 'operations')


def missing_key(verb: str, key: str) -> str:
    """Return what is said of a body without the key that holds all else."""
    if verb == 'PATCH':
        return f"Malformed request data, missing '{key}' key in request body."
    return f"Request body missing '{key}' key."


def no_map(path: str) -> str:
    """Return what is said of an action that has something else below it."""
    if path.startswith(_NODES):
        return 'The params provided is not a map.'
    return 'The data provided is not a map'


def of_query(path: str, said: str) -> str:
    """Return what is said of a query; the list of clusters quotes names."""
    if path != _CLUSTERS or not said.startswith(_NO_PARAMETER):
        return said
    return f"{_NO_PARAMETER}'{said.removeprefix(_NO_PARAMETER)}'"


def not_one(
    path: str, found: Collection[str], words: tuple[str, str] = ACTION
) -> str:
    """Return what is said of a body that names none, several or another.

    :param found: what it names
    :param words: :data:`ACTION` or :data:`OPERATION`
    """
    one, several = words
    stop = '.' if path.startswith(_NODES) else ''
    if not found:
        return f'No {one} specified{stop}'
    if len(found) > 1:
        return f'Multiple {several} specified{stop}'
    (name,) = found
    return f'Unrecognized {one} {exceptions.cut(name)} specified'
