# SPDX-License-Identifier: Apache-2.0
"""Render engine results as response bodies, with their JSON schemas.

Each function here returns a :class:`Render` for the route table. The manifest
of the requested microversion drops fields that the microversion does not have;
the schema is derived from the same types.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from vobjects import objects
from vobjects.clustering import resources
from vobjects.contract import shapes
from vobjects.objects.manifest import Manifest
from vobjects.versions import Version


class Rendered(NamedTuple):
    """A response without its status.

    :ivar body: the JSON object; None for no body
    :ivar action: ID of the action that does the work, for the header Location
    """

    body: dict[str, Any] | None
    action: str = ''


class Schema(Protocol):
    """Return the schema of a response body at a microversion."""

    def __call__(
        self, version: Version, *, early: bool = False
    ) -> shapes.Schema | None: ...


@dataclasses.dataclass(frozen=True, slots=True)
class Render:
    """Render the result of an engine, and describe the body.

    :ivar make: (result, manifest of the microversion) -> response
    :ivar schema: (microversion, whether fields are shown early) -> schema of
        the body; None if there is no body
    :ivar starts_action: whether Location names an action
    """

    make: Callable[[Any, Manifest], Rendered]
    schema: Schema
    starts_action: bool = False

    def __call__(self, answer: Any, shown: Manifest) -> Rendered:
        """Render a result."""
        return self.make(answer, shown)


def item(key: str, cls: type[objects.Resource], *also: str) -> Render:
    """Return a renderer for one resource below a key.

    :param also: further keys that hold the same resource
    """

    def make(resource: Any, shown: Manifest) -> Rendered:
        content = objects.to_json(resource, shown)
        return Rendered({key: content, **dict.fromkeys(also, content)})

    def schema(
        version: Version, *, early: bool = False
    ) -> shapes.Schema | None:
        return shapes.below(
            key, *also, content=shapes.resource(cls, version, early=early)
        )

    return Render(make, schema)


def items(key: str, cls: type[objects.Resource]) -> Render:
    """Return a renderer for a list of resources below a key."""

    def make(answer: Any, shown: Manifest) -> Rendered:
        return Rendered({key: objects.to_json_text(answer, shown)})

    def schema(
        version: Version, *, early: bool = False
    ) -> shapes.Schema | None:
        return shapes.below(
            key,
            content=shapes.many(shapes.resource(cls, version, early=early)),
        )

    return Render(make, schema)


def page(key: str, cls: type[objects.Resource]) -> Render:
    """Return a renderer for a list page, with an optional link to the next."""

    def schema(
        version: Version, *, early: bool = False
    ) -> shapes.Schema | None:
        return _page(key, shapes.resource(cls, version, early=early))

    return Render(items(key, cls).make, schema)


def _page(key: str, content: shapes.Schema | None) -> shapes.Schema | None:
    """Return the schema of a list page."""
    items = shapes.many(content)
    if items is None:
        return None
    link = {'rel': {'type': 'string'}, 'href': {'type': 'string'}}
    links = {'type': 'array', 'items': shapes.closed(link, link)}
    return shapes.closed({key: items, 'links': links}, [key])


def started(key: str, cls: type[objects.Resource]) -> Render:
    """Return a renderer for a resource that an action works on."""

    def make(answer: resources.Accepted, shown: Manifest) -> Rendered:
        resource = getattr(answer, key)
        return Rendered({key: objects.to_json(resource, shown)}, answer.action)

    def schema(
        version: Version, *, early: bool = False
    ) -> shapes.Schema | None:
        return shapes.below(
            key, content=shapes.resource(cls, version, early=early)
        )

    return Render(make, schema, starts_action=True)


def _no_schema(version: Version, *, early: bool = False) -> None:
    return None


def _action(answer: resources.Accepted, shown: Manifest) -> Rendered:
    return Rendered({'action': answer.action}, answer.action)


def _action_schema(
    version: Version, *, early: bool = False
) -> shapes.Schema | None:
    return shapes.below('action', content={'type': 'string', 'format': 'uuid'})


def _location(answer: resources.Accepted, shown: Manifest) -> Rendered:
    return Rendered(None, answer.action)


def _nothing(answer: Any, shown: Manifest) -> Rendered:
    return Rendered(None)


def _operations(answer: Any, shown: Manifest) -> Rendered:
    return Rendered(objects.to_json(answer, shown))


def _operations_schema(
    version: Version, *, early: bool = False
) -> shapes.Schema | None:
    return shapes.resource(
        resources.ProfileTypeOperations, version, early=early
    )


def _with_cluster(event: dict[str, Any]) -> dict[str, Any]:
    """Add the cluster of an event as Senlin shows it: ID and name."""
    id_ = event['cluster_id']
    name = (
        event['oname']
        if event['otype'] == 'CLUSTER'
        else (event['meta_data'] or {}).get('cluster_name')
    )
    event['cluster'] = id_ and {'id': id_, 'name': name}
    return event


def _event(answer: resources.Event, shown: Manifest) -> Rendered:
    return Rendered({'event': _with_cluster(objects.to_json(answer, shown))})


def _events(answer: Any, shown: Manifest) -> Rendered:
    found = objects.to_json_list(answer, shown)
    return Rendered({'events': [_with_cluster(one) for one in found]})


def _event_shape(version: Version, early: bool) -> shapes.Schema | None:
    schema = shapes.resource(resources.Event, version, early=early)
    if schema is None:
        return None
    cluster = shapes.closed(
        {'id': {'type': 'string'}, 'name': {'type': ['string', 'null']}},
        ('id', 'name'),
    )
    properties = {
        **schema['properties'],
        'cluster': {**cluster, 'type': ['object', 'null']},
    }
    required = [*schema['required'], 'cluster']
    return {**schema, 'properties': properties, 'required': required}


def _event_schema(
    version: Version, *, early: bool = False
) -> shapes.Schema | None:
    return shapes.below('event', content=_event_shape(version, early))


def _events_schema(
    version: Version, *, early: bool = False
) -> shapes.Schema | None:
    return _page('events', _event_shape(version, early))


def _build_info(answer: resources.BuildInfo, shown: Manifest) -> Rendered:
    both = objects.to_json(answer, shown)
    # The API's own revision; the engine cannot know it.
    both['api'] = {'revision': importlib.metadata.version('vobjects')}
    return Rendered({'build_info': both})


#: The ID of an action.
action = Render(_action, _action_schema, starts_action=True)

#: No body; Location names the action that deletes the resource.
location = Render(_location, _no_schema, starts_action=True)

#: No body.
nothing = Render(_nothing, _no_schema)

#: The operations that a profile type supports.
operations = Render(_operations, _operations_schema)

#: An event with its cluster.
event = Render(_event, _event_schema)

#: Events with their clusters.
events = Render(_events, _events_schema)

#: The builds of the engine and the API.
build_info = Render(
    _build_info, item('build_info', resources.BuildInfo).schema
)
