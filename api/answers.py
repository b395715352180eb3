# SPDX-License-Identifier: Apache-2.0
"""What an engine answers, as the body of a response.

Each function here returns a :data:`Render` for the route table. What a
microversion cannot show is left out by the manifest of that microversion.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from vobjects import base
from vobjects.clustering import resources
from vobjects.manifest import Manifest


class Rendered(NamedTuple):
    """A response but for its status.

    :ivar body: None for none at all
    :ivar action: the action that will do it; named in Location
    """

    body: dict[str, Any] | None
    action: str = ''


Render = Callable[[Any, Manifest], Rendered]


def item(key: str) -> Render:
    """Return what renders one resource below a key."""

    def render(resource: base.Resource, shown: Manifest) -> Rendered:
        return Rendered({key: base.plain(resource, shown)})

    return render


def items(key: str) -> Render:
    """Return what renders a list of resources below a key."""

    def render(answer: Sequence[base.Resource], shown: Manifest) -> Rendered:
        return Rendered({key: [base.plain(one, shown) for one in answer]})

    return render


def started(key: str) -> Render:
    """Return what renders a resource that an action works on."""

    def render(answer: resources.Accepted, shown: Manifest) -> Rendered:
        resource = getattr(answer, key)
        return Rendered({key: base.plain(resource, shown)}, answer.action)

    return render


def action(answer: resources.Accepted, shown: Manifest) -> Rendered:
    """Render the id of an action."""
    return Rendered({'action': answer.action}, answer.action)


def location(answer: resources.Accepted, shown: Manifest) -> Rendered:
    """Render nothing: Location alone says which action deletes."""
    return Rendered(None, answer.action)


def nothing(answer: Any, shown: Manifest) -> Rendered:
    """Render no body at all."""
    return Rendered(None)


def build_info(answer: resources.BuildInfo, shown: Manifest) -> Rendered:
    """Render both sides' builds; ours is what this process runs."""
    both = base.plain(answer, shown)
    both['api'] = {'revision': importlib.metadata.version('vobjects')}
    return Rendered({'build_info': both})
