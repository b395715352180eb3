# SPDX-License-Identifier: Apache-2.0
"""What Senlin's API reference documents: ``doc/source/api_reference.yaml``."""

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
    """One operation, as a call; the file says what is what."""

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
        """The path, with names in braces for what the test has made."""
        return self.call.partition(' ')[2]

    def route(self) -> routes.Route | None:
        """Return what serves it."""
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
    # A word in the route's place counts before any that could stand there.
    exact = any(one.path == path for one in routes.ROUTES)
    return len(pattern) == len(segments) and all(
        ours == theirs or (ours.startswith('{') and not exact)
        for ours, theirs in zip(pattern, segments, strict=True)
    )


_READ = yaml.safe_load(PATH.read_text())

#: What is asked, in an order in which it can be.
CALLS = [Operation(**one) for one in _READ['operations']]

#: What is done.
OPERATIONS = [one for one in CALLS if not one.refused]

#: Name -> documented fields of what an answer has.
SHAPES: Mapping[str, Sequence[str]] = _READ['shapes']

#: Shape -> documented fields that came later -> since when.
LATER: Mapping[str, Mapping[str, str]] = _READ['later']

#: Shape -> fields that are not documented -> since when.
BEYOND: Mapping[str, Mapping[str, str]] = _READ['beyond']

#: What is no route of the table: discovery.
DISCOVERY = ('/', '/v1/')
