# SPDX-License-Identifier: Apache-2.0
"""What an engine answers, as the body of a response, with its schema.

Each function here returns a :class:`Render` for the route table. What a
microversion cannot show is left out by the manifest of that microversion;
the schema follows the same types.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
from collections.abc import Callable
from typing import Any, NamedTuple

from vobjects import base
from vobjects.clustering import resources
from vobjects.contract import shapes
from vobjects.manifest import Manifest
from vobjects.versions import Version


class Rendered(NamedTuple):
    """A response but for its status.

    :ivar body: None for none at all
    :ivar action: the action that will do it; named in Location
    """

    body: dict[str, Any] | None
    action: str = ''


@dataclasses.dataclass(frozen=True, slots=True)
class Render:
    """Makes the response of an answer.

    :ivar make: (answer, manifest of the microversion) -> response
    :ivar schema: microversion -> schema of the body; None: there is none
    :ivar starts_action: the response names an action in Location
    """

    make: Callable[[Any, Manifest], Rendered]
    schema: Callable[[Version], shapes.Schema | None]
    starts_action: bool = False

    def __call__(self, answer: Any, shown: Manifest) -> Rendered:
        """Return the response."""
        return self.make(answer, shown)


def item(key: str, cls: type[base.Resource], *also: str) -> Render:
    """Return what renders one resource below a key.

    :param also: keys that have it, too
    """

    def make(resource: Any, shown: Manifest) -> Rendered:
        content = base.plain(resource, shown)
        return Rendered({key: content, **dict.fromkeys(also, content)})

    def schema(version: Version) -> shapes.Schema | None:
        return shapes.below(key, *also, content=shapes.resource(cls, version))

    return Render(make, schema)


def items(key: str, cls: type[base.Resource]) -> Render:
    """Return what renders a list of resources below a key."""

    def make(answer: Any, shown: Manifest) -> Rendered:
        return Rendered({key: base.shown_all(answer, shown)})

    def schema(version: Version) -> shapes.Schema | None:
        return shapes.below(
            key, content=shapes.many(shapes.resource(cls, version))
        )

    return Render(make, schema)


def started(key: str, cls: type[base.Resource]) -> Render:
    """Return what renders a resource that an action works on."""

    def make(answer: resources.Accepted, shown: Manifest) -> Rendered:
        resource = getattr(answer, key)
        return Rendered({key: base.plain(resource, shown)}, answer.action)

    def schema(version: Version) -> shapes.Schema | None:
        return shapes.below(key, content=shapes.resource(cls, version))

    return Render(make, schema, starts_action=True)


def _no_schema(version: Version) -> None:
    return None


def _action(answer: resources.Accepted, shown: Manifest) -> Rendered:
    return Rendered({'action': answer.action}, answer.action)


def _action_schema(version: Version) -> shapes.Schema | None:
    return shapes.below('action', content={'type': 'string', 'format': 'uuid'})


def _location(answer: resources.Accepted, shown: Manifest) -> Rendered:
    return Rendered(None, answer.action)


def _nothing(answer: Any, shown: Manifest) -> Rendered:
    return Rendered(None)


def _operations(answer: Any, shown: Manifest) -> Rendered:
    return Rendered(base.plain(answer, shown))


def _operations_schema(version: Version) -> shapes.Schema | None:
    return shapes.resource(resources.ProfileTypeOperations, version)


def _build_info(answer: resources.BuildInfo, shown: Manifest) -> Rendered:
    both = base.plain(answer, shown)
    # What this process runs; the engine cannot know it.
    both['api'] = {'revision': importlib.metadata.version('vobjects')}
    return Rendered({'build_info': both})


#: The id of an action.
action = Render(_action, _action_schema, starts_action=True)

#: No body: Location alone says which action deletes.
location = Render(_location, _no_schema, starts_action=True)

#: No body at all.
nothing = Render(_nothing, _no_schema)

#: What can be done to nodes of a profile type.
operations = Render(_operations, _operations_schema)

#: Both sides' builds.
build_info = Render(
    _build_info, item('build_info', resources.BuildInfo).schema
)
