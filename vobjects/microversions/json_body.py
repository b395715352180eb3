# SPDX-License-Identifier: Apache-2.0
"""Parse request bodies into JSON values that are safe to process.

Python's parser accepts more than JSON, and values that a database, a message
bus or another JSON parser cannot represent. This one rejects, each with its
own message: too many bytes, encodings other than UTF-8, duplicate names in an
object (parsers differ in which one they use), NaN and infinities, integers
beyond 64 bits, lone surrogates and NUL in strings, deep nesting, which would
cause a RecursionError later, and more values than fit into the memory of a
request.
"""

from __future__ import annotations

import codecs
import json
import re
from typing import Any, NoReturn

from vobjects import exceptions, json_depth, phrases
from vobjects.microversions import errors

MAX_BYTES = 1 << 20
MAX_DEPTH = json_depth.MAX_DEPTH
MAX_VALUES = json_depth.MAX_VALUES

_INTEGERS = range(-(2**63), 2**63)
_MAX_INTEGER_LENGTH = len(str(_INTEGERS[0]))

_UNSTORABLE = re.compile('[\0\ud800-\udfff]')
# Escapes that may encode unstorable characters. Half of a valid surrogate pair
# matches as well.
_SUSPECT = re.compile(rb'\\u(?:0000|[dD][89a-fA-F])')


def load_json(raw: bytes, max_bytes: int = MAX_BYTES) -> Any:
    """Parse one JSON value.

    :param raw: the body, in UTF-8
    :param max_bytes: maximum length of the body
    :raises vobjects.microversions.errors.BodyTooLarge: the body is longer than
        ``max_bytes``
    :raises vobjects.microversions.errors.MalformedBody: the body is not JSON,
        or not safe; see the module's docstring
    :raises TypeError: ``raw`` is not bytes, such as a value already parsed
    """
    if not isinstance(raw, (bytes, bytearray)):
        raise TypeError(
            f'the body must be bytes as received, not {type(raw).__name__};'
            ' parse_values takes a body that is already parsed'
        )
    if len(raw) > max_bytes:
        raise errors.BodyTooLarge(
            f'The request body has {len(raw)} bytes; the maximum is'
            f' {max_bytes}.'
        )
    if raw.startswith(codecs.BOM_UTF8):
        raise errors.MalformedBody(
            'The request body begins with a byte order mark; remove it.'
        )
    if not raw.strip():
        raise errors.MalformedBody(
            'The request body is empty; a JSON object is expected.'
        )
    try:
        text = raw.decode('utf-8')
    except UnicodeDecodeError as error:
        raise errors.MalformedBody(
            f'The request body is not UTF-8: byte {error.start} is'
            f' 0x{raw[error.start]:02x}.'
        ) from None
    position = json_depth.too_deep_at(raw, MAX_DEPTH)
    if position is not None:
        raise errors.MalformedBody(
            f'The request body is nested more than {MAX_DEPTH} deep at byte'
            f' {position}.'
        )
    if json_depth.has_too_many_values(raw, MAX_VALUES):
        raise errors.MalformedBody(
            f'The request body has more than {MAX_VALUES} values.'
        )
    try:
        value = _decoder.decode(text)
    except json.JSONDecodeError as error:
        problem = error.msg.removesuffix(' at')
        raise errors.MalformedBody(
            f'The request body is not JSON: {problem} at line {error.lineno},'
            f' column {error.colno}.'
        ) from None
    if _SUSPECT.search(raw):
        _check_strings(value)
    return value


def _check_strings(value: Any) -> None:
    unchecked: list[tuple[Any, tuple[str | int, ...]]] = [(value, ())]
    while unchecked:
        item, path = unchecked.pop()
        if isinstance(item, dict):
            unchecked += ((name, (*path, name)) for name in item)
            unchecked += ((item[name], (*path, name)) for name in item)
        elif isinstance(item, list):
            unchecked += ((each, (*path, n)) for n, each in enumerate(item))
        elif isinstance(item, str) and (bad := unstorable(item)):
            # It may be a secret.
            raise errors.MalformedBody(
                f'{phrases.format_path("body", path)} has the character {bad},'
                ' which cannot be stored.'
            )


def unstorable(text: str) -> str:
    """Return the first character that databases and peers cannot store.

    :returns: NUL or half of a surrogate pair, such as ``'U+0000'``; else
        ``''``
    """
    match = _UNSTORABLE.search(text)
    return f'U+{ord(match[0]):04X}' if match else ''


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        for name, _value in pairs:
            if name in seen:
                raise errors.MalformedBody(
                    f'The name {exceptions.cut(name)} occurs twice in a JSON'
                    ' object of the request body.'
                )
            seen.add(name)
    return result


def _integer(text: str) -> int:
    # Check the length first: int() is slow or fails for thousands of digits.
    if len(text) > _MAX_INTEGER_LENGTH or int(text) not in _INTEGERS:
        raise errors.MalformedBody(
            f'The integer {exceptions.cut_text(text)} does not fit 64 bits.'
        )
    return int(text)


def _number(text: str) -> float:
    value = float(text)
    if value in (float('inf'), float('-inf')):
        raise errors.MalformedBody(
            f'The number {exceptions.cut_text(text)} is too large.'
        )
    return value


def _no_constant(text: str) -> NoReturn:
    raise errors.MalformedBody(
        f'{text} is not JSON; a number or null is expected.'
    )


_decoder = json.JSONDecoder(
    object_pairs_hook=_no_duplicates,
    parse_int=_integer,
    parse_float=_number,
    parse_constant=_no_constant,
)
