# SPDX-License-Identifier: Apache-2.0
"""JSON text of primitives: written by orjson, read by msgspec.

Both say what ``json`` says; what they would say otherwise, ``json`` does.

What is written means the same to any reader as what ``json.dumps`` writes;
the bytes differ: no spaces, UTF-8 instead of ``\\u`` escapes, ``1e16`` for
``1e+16``. Left to ``json`` are

===========================================  ===============================
NaN and Infinity                             orjson writes null in silence
integers beyond 64 bits, lone surrogates,    orjson refuses
keys that are not strings, subclasses of
tuple and float, deep nesting
NaN, Infinity, lone surrogates, numbers      msgspec refuses to read them
beyond what a double holds
===========================================  ===============================

Two things are accepted that ``json.dumps`` refuses: ``uuid.UUID`` is written
as its text and a member of an ``Enum`` as its value.

orjson is not used to read, because it reads integers beyond 64 bits as floats
in silence; msgspec not to write, because it writes times and dataclasses.
"""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec
import orjson

#: Times and dataclasses are not JSON; json.dumps refuses them, so do we.
_OPTIONS = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
_decode = msgspec.json.Decoder().decode

#: JSON text that stands for its value in what waits to be written; see
#: :mod:`vobjects.codec.lists`.
Written = msgspec.Raw


def dumps(primitive: Any, *, finite: bool = False) -> bytes:
    """Return the JSON text of a primitive, in UTF-8.

    :param finite: the caller knows that it holds no NaN and no Infinity
    :raises TypeError: it holds something that JSON has not
    :raises ValueError: it holds itself
    """
    try:
        made = orjson.dumps(primitive, option=_OPTIONS)
    except TypeError:
        return json.dumps(primitive).encode()
    # Only a null can have been a NaN.
    if finite or b'null' not in made or is_finite(primitive):
        return made
    return json.dumps(primitive).encode()


def loads(text: bytes) -> Any:
    """Return what a JSON text in UTF-8 says.

    :raises ValueError: it is none
    """
    try:
        return _decode(text)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        pass  # NaN, say; or json tells what is wrong
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError('JSON text is nested too deeply') from None


def unwritten(written: Any) -> Any:
    """Return the value that a :data:`Written` stands for.

    :raises ValueError: its text is no JSON
    """
    return loads(bytes(written))


def included(written: bytes) -> Any:
    """Return JSON text as a value that :func:`dumps` writes as it is.

    :param written: in UTF-8; it is not looked at
    """
    return orjson.Fragment(written)


#: Of exactly these classes nothing is infinite.
_FINITE = frozenset({str, int, bool, type(None)})


def is_finite(value: Any) -> bool:
    """Tell whether there is no NaN and no Infinity in a primitive."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        values: Any = value.values()
    elif isinstance(value, (list, tuple)):
        values = value
    else:
        return True
    return _FINITE.issuperset(map(type, values)) or all(map(is_finite, values))
