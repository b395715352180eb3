# SPDX-License-Identifier: Apache-2.0
"""The call that a thread of a server handles, and the record of its response.

The same call may arrive twice, if a response was lost or a broker redelivered
the message. A handler that changes something records the call's id and its
response in the same transaction, in which a second record with the same id
fails.
"""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from vobjects import exceptions
from vobjects.objects.codec import json_text, ovo_methods
from vobjects.objects.manifest import Manifest
from vobjects.rpc import response_text, serializer
from vobjects.rpc.fleet_types import Record, RecordedResponse, RecordedText

_DATA = RecordedResponse._obj_primitive_key('data')


@dataclasses.dataclass(slots=True)
class Call:
    """The state of a call while it is performed.

    :ivar id: id of the call; empty: unknown
    :ivar type_name: name of the type of the request
    :ivar shown: versions at which the caller needs the response as JSON text;
        None: it needs a primitive
    :ivar part: the field of the response that the caller needs as text
    """

    id: str = ''
    type_name: str | None = None
    shown: Manifest | None = None
    part: str = ''
    _serialized: tuple[Any, Mapping[str, str] | None, bytes] | None = None
    _text: tuple[Any, str] | None = None

    def serialize(
        self, response: Any, versions: Mapping[str, str] | None
    ) -> bytes:
        """Return the JSON text of a response's primitive; write it once."""
        if self._serialized is not None:
            known, known_versions, text = self._serialized
            if known is response and known_versions == versions:
                return text
        ovo_methods.reset_changes(response)
        text = serializer.to_bytes(response, versions)
        self._serialized = response, versions, text
        return text

    def write(self, response: Any) -> str:
        """Return the message of a response at the shown versions, once.

        :raises RuntimeError: the versions lack a type of the response
        """
        if isinstance(response, RecordedText):
            return response.text
        if self._text is None or self._text[0] is not response:
            assert self.shown is not None
            try:
                text = response_text.write(response, self.shown, self.part)
            except exceptions.UnsupportedType as error:
                # A defect of the service, which must not look as if this
                # process were too old.
                raise RuntimeError(
                    f'the caller of {self.type_name} does not expect'
                    f' {error.type_name}'
                ) from error
            self._text = response, text.dump()
        return self._text[1]


_current: contextvars.ContextVar[Call] = contextvars.ContextVar(
    'vobjects_call'
)


def current_call() -> str:
    """Return the id of the call that this thread handles; empty: none."""
    call = _current.get(None)
    return '' if call is None else call.id


@contextlib.contextmanager
def call_scope(call: str | Call) -> Iterator[None]:
    """Set the current call for a block.

    :param call: the call, or its id; empty: the block belongs to no call, and
        detects by itself whether it has already run
    """
    token = _current.set(Call(call) if isinstance(call, str) else call)
    try:
        yield
    finally:
        _current.reset(token)


def record_of(response: Any, versions: Manifest | None) -> str:
    """Return the record of the current call's response, as JSON text.

    It is the primitive of a
    :class:`~vobjects.rpc.fleet_types.RecordedText` or of a
    :class:`~vobjects.rpc.fleet_types.RecordedResponse`. The server sends what
    was recorded, so the handler must return this object and not change it any
    more.

    :param response: a Resource or None; its changes are reset
    :param versions: manifest of the readers of the record; None: the newest
        versions
    :raises vobjects.exceptions.ConversionError: the versions cannot represent
        the response
    """
    call = _current.get(Call())
    reads_text = versions is None or RecordedText.obj_name() in versions
    writes_text = call.shown is not None and reads_text
    record: Record = (
        RecordedText(text=call.write(response))
        if writes_text
        else RecordedResponse(content=None)
    )
    primitive = serializer.to_wire(record, versions)
    if not writes_text:
        primitive[_DATA]['content'] = json_text.RawJson(
            call.serialize(response, versions)
        )
    return json_text.dumps(primitive).decode()


def recorded_response(record: Record) -> Any:
    """Return the response in a record; a text is not read: see `write`."""
    if isinstance(record, RecordedText):
        return record
    return serializer.from_wire(record.content)
