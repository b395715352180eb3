# SPDX-License-Identifier: Apache-2.0
"""What Senlin's controllers say of a body or a query they cannot read.

Its clients' automation compares ``error.message``, the whole sentence. So
where Senlin has one, that is what stands there; ``errors`` still says where,
and what would do. Controllers differ in quotes and full stops. Of fields and
their values see :mod:`api.field_words`.
"""

from __future__ import annotations

from collections.abc import Collection

from api import field_words
from vobjects import exceptions
from vobjects.microversions import errors

_CLUSTERS = '/v1/clusters'
_NODES = '/v1/nodes'

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
    return field_words.NO_MAP


def of_fault(fault: errors.FieldFault, path: str, *, in_query: bool) -> str:
    """Return what is said of a field; empty: nothing.

    :param in_query: whether the field is of the query, else of the body
    """
    if in_query and fault.kind == 'unknown':
        name = field_words.bare(fault.names[0])
        # The list of clusters alone quotes names.
        shown = f"'{name}'" if path == _CLUSTERS else name
        return f'Invalid parameter {shown}'
    return field_words.of_fault(fault, in_query=in_query)


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
