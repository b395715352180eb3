# SPDX-License-Identifier: Apache-2.0
"""Apply all rules to the source trees of two releases."""

from __future__ import annotations

import functools
import pathlib
from collections.abc import Iterator

from vobjects_releases import (
    first_schema_rules,
    model_rules,
    object_rules,
    route_rules,
    rpc_rules,
    schema_rules,
    stored,
)
from vobjects_releases.findings import Finding, Rule
from vobjects_releases.models import Models
from vobjects_releases.routes import Routes
from vobjects_releases.rpc import Rpc
from vobjects_releases.schemas import Schemas
from vobjects_releases.tree import Tree

#: All rules, in the order of reports.
RULES: tuple[Rule, ...] = (
    *rpc_rules.RULES,
    *object_rules.RULES,
    *model_rules.RULES,
    *route_rules.RULES,
    *schema_rules.RULES,
    *first_schema_rules.RULES,
    *stored.RULES,
)


class Release:
    """The source tree of a release; each part is read once.

    :param root: a directory with Python code
    :raises vobjects.releases.tree.TreeError: it has none
    """

    def __init__(self, root: pathlib.Path) -> None:
        self.tree = Tree(root)

    @functools.cached_property
    def rpc(self) -> Rpc:
        """The RPC servers and clients."""
        return Rpc(self.tree)

    @functools.cached_property
    def models(self) -> Models:
        """The pydantic models."""
        return Models(self.tree)

    @functools.cached_property
    def routes(self) -> Routes:
        """The routes of the HTTP API."""
        return Routes(self.tree)

    @functools.cached_property
    def schemas(self) -> Schemas:
        """The JSON schemas of requests."""
        return Schemas(self.tree)


def compare(old: Release, new: Release) -> tuple[Finding, ...]:
    """Return the findings, one for each rule, subject and field."""
    found: dict[tuple[str, str, str], Finding] = {}
    for finding in _all(old, new):
        key = (finding.rule.id, finding.subject, finding.field)
        found.setdefault(key, finding)
    return tuple(found.values())


def _all(old: Release, new: Release) -> Iterator[Finding]:
    yield from rpc_rules.compare(old.rpc, new.rpc)
    yield from object_rules.compare(old.rpc, new.rpc)
    yield from model_rules.compare(old.models, new.models)
    yield from route_rules.compare(old.routes, new.routes)
    yield from schema_rules.compare(old.schemas, new.schemas)
    yield from first_schema_rules.compare(old.schemas, new.schemas)
    yield from stored.compare(old.tree, new.tree)
