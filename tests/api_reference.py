# SPDX-License-Identifier: Apache-2.0
"""Operations of Senlin's API, from ``doc/source/api_reference.yaml``."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from api import routes

PATH = (
    pathlib.Path(__file__).parents[1] / 'doc' / 'source' / 'api_reference.yaml'
)


@dataclasses.dataclass(frozen=True, slots=True)
class Operation:
    """An entry of the file, which describes the fields."""

    operation: str
    call: str
    status: int
    does: str = ''
    since: str = '1.0'
    takes: Sequence[str] = ()
    needs: Sequence[str] = ()
    later: Mapping[str, str] = dataclasses.field(default_factory=dict)
    beyond: Mapping[str, str] = dataclasses.field(default_factory=dict)
    query: str = ''
    body: Any = None
    answers: Mapping[str, str] = dataclasses.field(default_factory=dict)
    saves: str = ''
    refused: Mapping[str, str] = dataclasses.field(default_factory=dict)
    fails: Sequence[int] = ()
    ends: str = 'SUCCEEDED'
    differs: str = ''

    @property
    def method(self) -> str:
        """GET, POST, ..."""
        return self.call.partition(' ')[0]

    @property
    def path(self) -> str:
        """The path, with names of created resources in braces."""
        return self.call.partition(' ')[2]

    def route(self) -> routes.Route | None:
        """Return the route of the operation, if it is in the route table."""
        for route in routes.ROUTES:
            selected = route.params.key if route.params.dispatch_on_key else ''
            if (
                route.method == self.method
                and selected == self.does
                and _fits(route.path, self.path)
            ):
                return route
        return None


def _fits(route: str, path: str) -> bool:
    pattern, segments = route.split('/'), path.split('/')
    # A literal path has precedence over a pattern that matches it.
    exact = any(route.path == path for route in routes.ROUTES)
    return len(pattern) == len(segments) and all(
        part == segment or (part.startswith('{') and not exact)
        for part, segment in zip(pattern, segments, strict=True)
    )


_DOCUMENT = yaml.safe_load(PATH.read_text())

#: All calls, in an order in which they can be sent.
CALLS = [Operation(**entry) for entry in _DOCUMENT['operations']]

#: Calls that succeed.
OPERATIONS = [call for call in CALLS if not call.refused]

#: Name -> documented fields of a resource in a response.
SHAPES: Mapping[str, Sequence[str]] = _DOCUMENT['shapes']

#: Shape -> documented fields that were added later -> microversion.
LATER: Mapping[str, Mapping[str, str]] = _DOCUMENT['later']

#: Shape -> undocumented fields -> microversion.
BEYOND: Mapping[str, Mapping[str, str]] = _DOCUMENT['beyond']

#: Paths of discovery, which are not in the route table.
DISCOVERY = ('/', '/v1/')
