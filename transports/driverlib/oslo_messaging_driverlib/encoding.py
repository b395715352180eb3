# SPDX-License-Identifier: Apache-2.0
"""Encode and decode JSON: orjson writes, msgspec reads.

Other drivers encode values with ``oslo_serialization.jsonutils``, and this
module gives text of the same meaning. ``json`` handles the values in which
either library would differ from it: orjson writes NaN as null and rejects
integers beyond 64 bits, and msgspec rejects NaN.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec
import orjson
from oslo_serialization import jsonutils

#: As jsonutils, convert times and dataclasses by ``to_primitive``.
_OPTIONS = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME

# The same as jsonutils.dumps, without a new encoder for each message.
_encode = json.JSONEncoder(
    default=jsonutils.to_primitive, separators=(',', ':')
).encode

_decode = msgspec.json.Decoder().decode

#: Maximum number of values in a text, at any depth. In memory, a short value
#: needs 30 times as many bytes as its text.
MAX_VALUES = 1 << 20

# Terminated or not. The possessive quantifiers keep it linear for hostile
# input.
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)

_pack = msgspec.msgpack.Encoder().encode

# NaN or Infinity in MessagePack: the mark of a float, and its exponent.
_not_finite_in = re.compile(rb'\xcb[\x7f\xff][\xf0-\xff]').search


def encode(value: Any) -> bytes:
    """Return the JSON text of a value, in UTF-8.

    :raises ValueError: a value contains itself
    :raises TypeError: a key of a dict is neither text nor a number
    """
    try:
        text = orjson.dumps(value, option=_OPTIONS)
    except TypeError:
        return _encode(value).encode()
    if b'null' in text and not _is_finite(value):
        return _encode(value).encode()
    return text


def decode(text: bytes) -> Any:
    """Return the value of a JSON text in UTF-8.

    :raises ValueError: it is not JSON, or has more than :data:`MAX_VALUES`
        values
    """
    if len(text) > MAX_VALUES and _has_too_many_values(text):
        raise ValueError(f'JSON text has more than {MAX_VALUES} values')
    try:
        return _decode(text)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        pass  # for example NaN; otherwise, json raises the error
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError('JSON text is nested too deeply') from None


def _has_too_many_values(text: bytes) -> bool:
    """Tell whether a text has too many values; takes no more memory."""
    if _separators(text) < MAX_VALUES:
        return False
    number = start = 0
    for strings, match in enumerate(_STRING.finditer(text)):
        number += _separators(text[start : match.start()])
        start = match.end()
        # Each value has at most one name.
        if number >= MAX_VALUES or strings > 2 * MAX_VALUES:
            return True
    return number + _separators(text[start:]) >= MAX_VALUES


def _separators(text: bytes) -> int:
    """Return the number of values but the first, in text without strings.

    Empty objects and arrays count twice.
    """
    return text.count(b',') + text.count(b'[') + text.count(b'{')


def _is_finite(value: Any) -> bool:
    """Tell whether a value surely holds no NaN or Infinity.

    A loop over all values would take twenty times as long as writing them.
    """
    try:
        # Rarely, bytes of other values look like those.
        return _not_finite_in(_pack(value)) is None
    except (TypeError, ValueError, OverflowError, RecursionError):
        return False  # no value of MessagePack
