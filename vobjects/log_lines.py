# SPDX-License-Identifier: Apache-2.0
"""Keep text from clients and remote services from forging log lines.

Call :func:`protect` after each setup of logging. The lines of a traceback stay
separate, and each line after the first one of a record is marked. A record
has at most :data:`MAX_LENGTH` characters.
"""

from __future__ import annotations

import logging
import re
from typing import Any

#: Maximum length of a record: an error may quote data of any size.
MAX_LENGTH = 1 << 16

# Control characters except the tab, the separators of lines in Unicode, and
# the characters that show a text in another order.
_CONTROL = re.compile(
    '[\0-\x08\n-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff'
    '\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]'
)
_CONTROL_IN_LINES = re.compile(_CONTROL.pattern.replace('\n', '\x0b', 1))


class _Record(logging.LogRecord):
    """A record whose message is one printable line."""

    def getMessage(self) -> str:  # noqa: N802 - of logging
        return escaped(_without_middle(super().getMessage()))


class _Formatter(logging.Formatter):
    """Escapes and marks the lines that another formatter returns.

    :param inner: the other formatter; None: the default of logging
    """

    def __init__(self, inner: logging.Formatter | None) -> None:
        super().__init__()
        self._inner = inner or logging.Formatter()

    def format(self, record: Any) -> str:
        text = _without_middle(self._inner.format(record))
        first, *more = text.split('\n')
        lines = [first, *(f'| {line}' for line in more)]
        return _CONTROL_IN_LINES.sub(_escape, '\n'.join(lines))


def escaped(text: str) -> str:
    """Return a text as one line, which shows its control characters."""
    return _CONTROL.sub(_escape, text)


def json_escaped(document: str) -> str:
    """Return a JSON document whose characters a terminal only shows.

    :param document: JSON text, which has no such characters besides strings
    """
    return _CONTROL_IN_LINES.sub(
        lambda match: f'\\u{ord(match[0]):04x}', document
    )


def protect() -> None:
    """Escape line ends and control characters in all log records.

    It applies to the handlers of the root logger and of all loggers that exist
    now.
    """
    logging.setLogRecordFactory(_Record)
    loggers = [logging.getLogger(), *logging.root.manager.loggerDict.values()]
    for logger in loggers:
        for handler in getattr(logger, 'handlers', ()):
            if not isinstance(handler.formatter, _Formatter):
                handler.setFormatter(_Formatter(handler.formatter))


def _without_middle(text: str) -> str:
    """Return a text that keeps both ends: a traceback ends with the error."""
    omitted = len(text) - MAX_LENGTH
    if omitted <= 0:
        return text
    half = MAX_LENGTH // 2
    note = f'... {omitted} characters omitted ...'
    return f'{text[:half]}{note}{text[-half:]}'


def _escape(match: re.Match[str]) -> str:
    return match[0].encode('unicode_escape').decode()
