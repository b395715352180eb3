# SPDX-License-Identifier: Apache-2.0
"""Responses as JSON text, in the form that an API shows.

An API shows a resource at the object versions of a microversion. If it sends
these versions with a call, the server writes the response in that form, once:
the same bytes are recorded for a repeated call, sent, and become the body of
the HTTP response. The API needs no object of them. What it needs besides, such
as the ID of an action, is in a header::

    text {"fields":{"action":"5a..."}}
    {"id":"c1...","name":"web"}

A server that cannot write one of the versions, or knows nothing of this form,
sends a primitive. The client then calls :func:`write` itself.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from vobjects import objects
from vobjects.objects.codec import json_text, lazy_list
from vobjects.rpc import serializer

#: JSON text never begins with this, so it cannot be a primitive.
_MARK = 'text '


@dataclasses.dataclass(frozen=True, slots=True)
class ResponseText:
    """A response, or one field of it, as JSON text.

    :ivar body: JSON in UTF-8, without NaN and infinity: they become null
    :ivar fields: if the body is one field, the resource's fields with a string
    :ivar count: the number of resources in a list
    :ivar last: ``id`` of the last resource in a list; None: it has none
    """

    body: bytes
    fields: Mapping[str, str] = dataclasses.field(default_factory=dict)
    count: int = 0
    last: Any = None

    def dump(self) -> str:
        """Return the text for a message."""
        header = {
            name: value
            for name in ('fields', 'count', 'last')
            if (value := getattr(self, name))
        }
        text = json_text.dumps(header)
        return f'{_MARK}{text.decode()}\n{self.body.decode()}'


def load(message: Any) -> ResponseText | None:
    """Return what :meth:`ResponseText.dump` wrote; None: something else.

    :raises ValueError: the header is malformed
    """
    if not isinstance(message, str) or not message.startswith(_MARK):
        return None
    header, _, body = message.partition('\n')
    values = json_text.loads(header.removeprefix(_MARK).encode())
    return ResponseText(body.encode(), **values)


def write(
    response: Any, versions: Mapping[str, str], part: str = ''
) -> ResponseText:
    """Write a response.

    :param response: a resource, a list of them, or JSON data
    :param versions: manifest with each type in the response
    :param part: name of the field to write; empty: the whole response
    :raises vobjects.exceptions.ConversionError: the versions cannot represent
        the response
    """
    if part:
        texts = {
            name: value
            for name in response.fields
            if name in response
            and isinstance(value := getattr(response, name), str)
        }
        return ResponseText(_body(getattr(response, part), versions), texts)
    body = _body(response, versions)
    if not isinstance(response, list) or not response:
        return ResponseText(body)
    return ResponseText(
        body, count=len(response), last=getattr(response[-1], 'id', None)
    )


def _body(value: Any, versions: Mapping[str, str]) -> bytes:
    data: Any
    if isinstance(value, objects.Object):
        data = objects.to_json(value, versions)
    elif isinstance(value, lazy_list.LazyObjectList) or (
        isinstance(value, list)
        and value
        and isinstance(value[0], objects.Object)
    ):
        data = objects.to_json_text(value, versions)
    else:
        data = serializer.to_wire(value, versions)
    return json_text.dumps(data, finite=True)
