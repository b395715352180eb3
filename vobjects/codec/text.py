# SPDX-License-Identifier: Apache-2.0
"""JSON text of primitives, by orjson where it says the same.

What is written means the same to any reader as what ``json.dumps`` writes;
the bytes differ: no spaces, UTF-8 instead of ``\\u`` escapes, ``1e16`` for
``1e+16``. ``json`` itself does what orjson would do otherwise:

===========================================  ===============================
NaN and Infinity                             orjson writes null in silence
integers beyond 64 bits                      orjson reads them as floats in
                                             silence, and refuses to write
lone surrogates, keys that are not strings,  orjson refuses
subclasses of tuple and float, deep nesting
===========================================  ===============================

Two things are accepted that ``json.dumps`` refuses: ``uuid.UUID`` is written
as its text and a member of an ``Enum`` as its value.
"""

from __future__ import annotations

import json
import math
from typing import Any

import orjson

#: Times and dataclasses are not JSON; json.dumps refuses them, so do we.
_OPTIONS = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME

#: An integer with fewer digits fits 64 bits for certain.
_MANY_DIGITS = b'0' * 19
_DIGITS = bytes.maketrans(b'123456789', b'0' * 9)


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
    if _MANY_DIGITS not in text.translate(_DIGITS):
        try:
            return orjson.loads(text)
        except ValueError:
            pass  # NaN, say; or json tells what is wrong
    return json.loads(text)


def is_finite(value: Any) -> bool:
    """Tell whether there is no NaN and no Infinity in a primitive."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(map(is_finite, value.values()))
    if isinstance(value, (list, tuple)):
        return all(map(is_finite, value))
    return True
