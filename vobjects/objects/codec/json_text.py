# SPDX-License-Identifier: Apache-2.0
"""Convert primitives to and from JSON: orjson writes, msgspec reads.

Without orjson, which is optional, ``json`` writes.

``json`` handles the cases in which either would differ from it. RawJson text
means the same as the text of ``json.dumps``, but its bytes differ: there are
no spaces, characters are UTF-8 instead of ``\\u`` escapes, and ``1e16``
replaces ``1e+16``. ``json`` handles

===========================================  ===============================
NaN and Infinity                             orjson silently writes null
integers beyond 64 bits, lone surrogates,    orjson raises an error
keys that are not strings, subclasses of
tuple and float, deep nesting
NaN, Infinity, lone surrogates, numbers      msgspec raises an error
beyond the range of a double
===========================================  ===============================

Two types are accepted that ``json.dumps`` rejects: ``uuid.UUID`` is written
as its text and a member of an ``Enum`` as its value.

orjson is not used for reading, because it silently reads integers beyond 64
bits as floats. msgspec is not used for writing, because it accepts times and
dataclasses.
"""

from __future__ import annotations

import enum
import json
import re
import uuid
from typing import Any

import msgspec

from vobjects import json_depth

try:
    import orjson
except ImportError:  # json writes the same, but slower
    orjson = None  # type: ignore[assignment]
else:
    #: As json.dumps, reject times and dataclasses, which are not JSON.
    _OPTIONS = (
        orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
    )

_decode = msgspec.json.Decoder().decode

#: Maximum number of values in a text of more than :data:`UNCOUNTED_BYTES`.
#: Compressed, millions of values fit into a message of some kilobytes, but
#: they need a gigabyte of memory.
MAX_VALUES = 1 << 20
UNCOUNTED_BYTES = 4 << 20

#: JSON text in place of its value, which :func:`dumps` writes; it is not
#: validated.
RawJson = msgspec.Raw


def dumps(primitive: Any, *, finite: bool = False) -> bytes:
    """Return the JSON text of a primitive, in UTF-8.

    :param finite: write NaN and Infinity as null, because other languages
        cannot read them
    :raises TypeError: it holds a value that JSON cannot represent
    :raises ValueError: it contains itself
    """
    if orjson is not None:
        try:
            text = orjson.dumps(primitive, _write_raw, _OPTIONS)
        except TypeError:
            pass
        else:
            # orjson writes NaN as null, and json as NaN.
            if finite or b'null' not in text or is_finite(primitive):
                return text
    written = json.dumps(primitive, default=_to_json)
    if finite and ('NaN' in written or 'Infinity' in written):
        written = json.dumps(
            json.loads(written, parse_constant=lambda name: None)
        )
    return written.encode()


def _write_raw(value: Any) -> Any:
    if isinstance(value, RawJson):
        return orjson.Fragment(bytes(value))
    raise TypeError


def _to_json(value: Any) -> Any:
    if isinstance(value, RawJson):
        return decode_raw(value)
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, enum.Enum):
        return value.value
    raise TypeError(f'{type(value).__name__} is not JSON')


def loads(text: bytes) -> Any:
    """Return the value of a JSON text in UTF-8.

    :raises ValueError: the text is not JSON, or has too many values
    """
    check_size(text)
    try:
        return _decode(text)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        pass  # for example NaN; otherwise, json raises the error
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError('JSON text is nested too deeply') from None


def check_size(text: bytes) -> None:
    """Reject text whose value would need too much memory.

    :raises ValueError: it is long, and has more than :data:`MAX_VALUES` values
    """
    if len(text) > UNCOUNTED_BYTES and json_depth.has_too_many_values(
        text, MAX_VALUES
    ):
        raise ValueError(f'JSON text has more than {MAX_VALUES} values')


def decode_raw(written: Any) -> Any:
    """Return the value of a :data:`RawJson`.

    :raises ValueError: its text is not JSON
    """
    return loads(bytes(written))


_pack = msgspec.msgpack.Encoder().encode

# NaN or Infinity in MessagePack: the mark of a float, and its exponent.
_not_finite_in = re.compile(rb'\xcb[\x7f\xff][\xf0-\xff]').search


def is_finite(value: Any) -> bool:
    """Tell whether a primitive surely holds no NaN or Infinity.

    A loop over all values would take twenty times as long as writing them.
    """
    try:
        # Rarely, bytes of other values look like those.
        return _not_finite_in(_pack(value)) is None
    except (TypeError, ValueError, OverflowError, RecursionError):
        return False  # no value of MessagePack
