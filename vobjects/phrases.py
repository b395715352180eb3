# SPDX-License-Identifier: Apache-2.0
"""Phrases for error messages: paths, unknown names and accepted values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from vobjects import exceptions, suggestions

_LITERALS: Mapping[Any, str] = {None: 'null', True: 'true', False: 'false'}


def format_path(where: str, steps: Iterable[str | int]) -> str:
    """Return the path of a value.

    :param where: the part of the request, such as ``body``
    :param steps: names and indexes below that part
    :returns: a path such as ``body.nodes[0]['a name']``
    """
    path = where
    for step in steps:
        if isinstance(step, int):
            path += f'[{step}]'
        elif step.isidentifier() and len(step) <= exceptions.MAX_VALUE_LENGTH:
            path += f'.{step}'
        else:
            path += f'[{exceptions.cut(step)}]'
    return path


def format_value(value: Any) -> str:
    """Return a JSON value as text, truncated."""
    if value is None or isinstance(value, bool):
        return _LITERALS[value]
    if isinstance(value, str):
        value = str.__str__(value)  # not the name of a member of an enum
    return exceptions.cut(value)


def shorten(text: str, value: Any) -> str:
    """Truncate an error of another package, and the value that it quotes."""
    for part in (value, *(value if isinstance(value, (dict, list)) else ())):
        for shown in (repr(part), str(part)):
            text = text.replace(shown, exceptions.cut_text(shown))
    return text[: exceptions.MAX_PROBLEM_LENGTH]


def unknown_name(name: str, known: Collection[str]) -> str:
    """Describe an unknown name and suggest a known one."""
    suggestion = suggestions.suggest(name, known) or 'nothing is expected here'
    return f'unknown; {suggestion}'


def format_values(accepted: Iterable[Any]) -> str:
    """List accepted values; words that differ only in case appear once."""
    distinct: dict[Any, str] = {}
    for value in accepted:
        key = value.lower() if isinstance(value, str) else format_value(value)
        distinct.setdefault(key, format_value(value))
    return ', '.join(distinct.values()) or 'none'


def not_one_of(value: Any, accepted: Collection[Any]) -> str:
    """Describe a value that is not one of the accepted values.

    :returns: text such as "must be one of 'a', 'b', not 'A'; did you mean
        'a'?"
    """
    return (
        f'must be one of {format_values(accepted)}, not {format_value(value)}'
        f'{did_you_mean(value, accepted)}'
    )


def did_you_mean(value: Any, accepted: Iterable[Any]) -> str:
    """Return a suggestion that starts with a semicolon, or ``''``."""
    if not isinstance(value, str):
        return ''
    words = (word for word in accepted if isinstance(word, str))
    suggestion = suggestions.nearest(value, words)
    return '' if suggestion is None else f'; did you mean {suggestion!r}?'
