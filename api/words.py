# SPDX-License-Identifier: Apache-2.0
"""Senlin's error messages for malformed bodies and queries.

Automation built on Senlin compares the whole sentence in ``error.message``.
Where Senlin has a message, it is used there; ``errors`` still names the place
and the accepted values. Senlin's controllers differ in quotes and full stops.
:mod:`api.field_words` has the messages for fields and their values.
"""

from __future__ import annotations

from collections.abc import Collection

from api import field_words
from vobjects import exceptions
from vobjects.microversions import errors

_CLUSTERS = '/v1/clusters'
_NODES = '/v1/nodes'

#: Words for the single key of a body, singular and plural.
ACTION = ('action', 'actions')
OPERATION = ('operation', 'operations')


def missing_key(verb: str, key: str) -> str:
    """Return the message for a body without its top-level key."""
    if verb == 'PATCH':
        return f"Malformed request data, missing '{key}' key in request body."
    return f"Request body missing '{key}' key."


def no_map(path: str) -> str:
    """Return the message for an action whose value is not a map."""
    if path.startswith(_NODES):
        return 'The params provided is not a map.'
    return field_words.NO_MAP


def of_fault(fault: errors.FieldFault, path: str, *, in_query: bool) -> str:
    """Return the message for a field; empty if Senlin has none.

    :param in_query: whether the field is in the query rather than the body
    """
    if in_query and fault.kind == 'unknown':
        name = field_words.bare(fault.names[0])
        # Only the list of clusters quotes names.
        shown = f"'{name}'" if path == _CLUSTERS else name
        return f'Invalid parameter {shown}'
    return field_words.of_fault(fault, in_query=in_query)


def not_one(
    path: str, found: Collection[str], words: tuple[str, str] = ACTION
) -> str:
    """Return the message for a body that names no, several or unknown actions.

    :param found: the names in the body
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
