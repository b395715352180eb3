# SPDX-License-Identifier: Apache-2.0
"""JSON paths that users give, bounded.

jsonpath-ng reads them: the library that took over from the one Senlin used,
with the same language. Its extensions, which compute, are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jsonpath_ng import exceptions as jsonpath_exceptions
from jsonpath_ng import lexer, parser

from vobjects import exceptions
from vobjects.clustering import errors

#: How often a path may look at everything below: each time multiplies.
MAX_DESCENTS = 2


class Path:
    """A path into JSON values.

    :param text: as in ``$.details.networks[0].network``
    :raises vobjects.clustering.errors.BadRequest: it is no path
    """

    def __init__(self, text: str) -> None:
        self._text = text.strip()
        if self._text in ('', 'None'):
            raise errors.BadRequest('Required path attribute is missing.')
        if self._text.count('..') + self._text.count('where') > MAX_DESCENTS:
            raise errors.BadRequest(
                f'Invalid attribute path - {exceptions.cut(text)} looks at'
                f' everything below more than {MAX_DESCENTS} times.'
            )
        try:
            # The library reads it, and cannot follow it.
            tokens = lexer.JsonPathLexer().tokenize(self._text)
            if any(token.type == '&' for token in tokens):
                raise errors.BadRequest(
                    f'Invalid attribute path - {exceptions.cut(text)} has &.'
                )
            self._path = parser.JsonPathParser().parse(self._text)
        except (jsonpath_exceptions.JSONPathError, ValueError) as error:
            raise errors.BadRequest(
                f'Invalid attribute path - {exceptions.cut(str(error))}'
            ) from None

    def mentions(self, name: str) -> bool:
        """Tell whether a name occurs in the path."""
        return name in self._text

    def find(self, document: Mapping[str, Any]) -> list[Any]:
        """Return the values that the path leads to.

        :raises vobjects.clustering.errors.BadRequest: it leads out of the
            document
        """
        try:
            return [match.value for match in self._path.find(document)]
        except AssertionError:
            raise errors.BadRequest(
                f'Invalid attribute path - {exceptions.cut(self._text)} leads'
                ' out of the node.'
            ) from None
