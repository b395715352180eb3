# SPDX-License-Identifier: Apache-2.0
"""Evaluate tenants' JSON paths lazily, with a limited number of steps.

jsonpath-ng, the successor of Senlin's library, parses the path. Its own search
collects all matches at once, and for some paths their number grows
exponentially with the length. :class:`Path` yields matches one at a time.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from typing import Any

from jsonpath_ng import exceptions as jsonpath_exceptions
from jsonpath_ng import jsonpath, lexer, parser

from vobjects import exceptions
from vobjects.clustering import errors

#: Maximum length of a path in characters. It limits the depth of recursion.
MAX_LENGTH = 400

#: Maximum number of values that a path visits, in all documents together.
MAX_STEPS = 500_000


#: A message of the parser: with a column and a token, or without.
_PARSE_ERROR = re.compile(
    r'Parse error (?:at \d+:(\d+) near token (.*) \(.*\)|near the end.*)',
    re.DOTALL,
)


@dataclasses.dataclass(frozen=True, slots=True)
class _Datum:
    value: Any
    parent: _Datum | None = None

    def children(self) -> Iterator[_Datum]:
        if isinstance(self.value, dict):
            for value in self.value.values():
                yield _Datum(value, self)
        elif isinstance(self.value, list):
            for value in self.value:
                yield _Datum(value, self)

    def fields(self, names: tuple[str, ...]) -> Iterator[_Datum]:
        if isinstance(self.value, dict):
            for name in names:
                if name in self.value:
                    yield _Datum(self.value[name], self)

    def items(self, indices: tuple[int, ...]) -> Iterator[_Datum]:
        if isinstance(self.value, list):
            for index in indices:
                if -len(self.value) <= index < len(self.value):
                    yield _Datum(self.value[index], self)

    def slice(self, part: slice) -> Iterator[_Datum]:
        if isinstance(self.value, list) and part.step != 0:
            for index in range(len(self.value))[part]:
                yield _Datum(self.value[index], self)


class Path:
    """A path into JSON documents.

    :param text: such as ``$.details.networks[0].network``
    :raises vobjects.clustering.errors.BadRequest: it is not a path, or has an
        operator that is not supported
    """

    def __init__(self, text: str) -> None:
        self._text = text.strip()
        self._steps = 0
        if self._text in ('', 'None'):
            raise errors.BadRequest('Required path attribute is missing.')
        if len(self._text) > MAX_LENGTH:
            raise _invalid(f'must have at most {MAX_LENGTH} characters.')
        try:
            for token in lexer.JsonPathLexer().tokenize(self._text):
                if token.type in ('&', '|'):
                    raise _invalid(f'{token.value} is not supported.')
            self._path = parser.JsonPathParser().parse(self._text)
        except (jsonpath_exceptions.JSONPathError, ValueError) as error:
            raise _invalid(_reason(str(error))) from None

    def mentions(self, name: str) -> bool:
        """Return whether a name occurs in the path."""
        return name in self._text

    def find(self, document: Mapping[str, Any]) -> Iterator[Any]:
        """Yield the values at the path.

        :raises vobjects.clustering.errors.BadRequest: the path leads out of
            the document, or visits too many values
        """
        for datum in self._find(self._path, _Datum(document)):
            yield datum.value

    def _find(self, path: Any, datum: _Datum) -> Iterator[_Datum]:
        for match in self._matches(path, datum):
            self._step()
            yield match

    def _step(self) -> None:
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise _invalid(
                f'{exceptions.cut(self._text)} visits more than {MAX_STEPS}'
                ' values.'
            )

    def _matches(self, path: Any, datum: _Datum) -> Iterator[_Datum]:
        match path:
            case jsonpath.Child():
                for left in self._find(path.left, datum):
                    yield from self._find(path.right, left)
            case jsonpath.Descendants():
                for left in self._find(path.left, datum):
                    for below in self._descend(left):
                        yield from self._find(path.right, below)
            case jsonpath.Where():  # and its subclass WhereNot
                expected = not isinstance(path, jsonpath.WhereNot)
                for left in self._find(path.left, datum):
                    if (
                        any(True for _ in self._find(path.right, left))
                        == expected
                    ):
                        yield left
            case jsonpath.Root():
                while datum.parent is not None:
                    datum = datum.parent
                yield datum
            case jsonpath.This():
                yield datum
            case jsonpath.Parent():
                if datum.parent is None:
                    raise _invalid(
                        f'{exceptions.cut(self._text)} leads out of the node.'
                    )
                yield datum.parent
            case jsonpath.Wildcard():
                yield from datum.children()
            case jsonpath.Fields():
                yield from datum.fields(path.fields)
            case jsonpath.Index():
                yield from datum.items(path.indices)
            case jsonpath.Slice():
                yield from datum.slice(slice(path.start, path.end, path.step))
            case _:
                raise _invalid(f'{exceptions.cut(str(path))} is unknown.')

    def _descend(self, datum: _Datum) -> Iterator[_Datum]:
        """Yield a value and all values below it, parents before children."""
        below = [iter((datum,))]
        while below:
            for child in below[-1]:
                self._step()
                yield child
                below.append(child.children())
                break
            else:
                below.pop()


def _reason(message: str) -> str:
    """Return a message of the parser without names of its tokens."""
    match = _PARSE_ERROR.fullmatch(message)
    if match is None:
        return exceptions.cut(message)
    column, token = match.groups()
    if token is None:
        return 'it ends too early.'
    position = int(column) + 1
    return f'{exceptions.cut(token)} is not expected at character {position}.'


def _invalid(reason: str) -> errors.BadRequest:
    return errors.BadRequest(f'Invalid attribute path - {reason}')
