# SPDX-License-Identifier: Apache-2.0
"""Render engine results as response bodies, with their JSON schemas.

Each :class:`Renderer` here is for the route table. The manifest of the
requested microversion drops fields that the microversion does not have; the
schema is derived from the same types.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
from collections.abc import Callable
from typing import Any, NamedTuple

from vobjects import objects
from vobjects.clustering import resources
from vobjects.contract.type_schemas import (
    Schema,
    closed,
    list_of,
    under_keys,
)
from vobjects.contract.type_schemas import resource as resource_schema
from vobjects.objects.manifest import Manifest
from vobjects.versions import Version


class Rendered(NamedTuple):
    """A response without its status.

    :ivar body: the JSON object; None for no body
    :ivar action: ID of the action that does the work, for the header Location
    """

    body: dict[str, Any] | None
    action: str = ''


@dataclasses.dataclass(frozen=True, slots=True)
class Renderer:
    """Renders the result of an engine, and describes the body.

    :ivar render: (result, manifest of the microversion) -> response
    :ivar schema: (microversion, whether fields are shown early) -> schema of
        the body; None if there is no body
    :ivar starts_action: whether Location names an action
    """

    render: Callable[[Any, Manifest], Rendered]
    schema: Callable[[Version, bool], Schema | None]
    starts_action: bool = False


def item(key: str, cls: type[objects.Resource], *aliases: str) -> Renderer:
    """Return a renderer for one resource below a key.

    :param aliases: further keys that hold the same resource
    """

    def render(resource: Any, manifest: Manifest) -> Rendered:
        content = objects.to_json(resource, manifest)
        return Rendered(dict.fromkeys((key, *aliases), content))

    def schema(version: Version, early: bool) -> Schema | None:
        content = resource_schema(cls, version, early=early)
        return under_keys(key, *aliases, content=content)

    return Renderer(render, schema)


def items(key: str, cls: type[objects.Resource]) -> Renderer:
    """Return a renderer for a list of resources below a key."""

    def render(result: Any, manifest: Manifest) -> Rendered:
        return Rendered({key: objects.to_json_text(result, manifest)})

    def schema(version: Version, early: bool) -> Schema | None:
        content = resource_schema(cls, version, early=early)
        return under_keys(key, content=list_of(content))

    return Renderer(render, schema)


def page(key: str, cls: type[objects.Resource]) -> Renderer:
    """Return a renderer for a list page, with an optional link to the next."""

    def schema(version: Version, early: bool) -> Schema | None:
        return _page_schema(key, resource_schema(cls, version, early=early))

    return Renderer(items(key, cls).render, schema)


def _page_schema(key: str, content: Schema | None) -> Schema | None:
    schema = list_of(content)
    if schema is None:
        return None
    link = {'rel': {'type': 'string'}, 'href': {'type': 'string'}}
    links = {'type': 'array', 'items': closed(link, link)}
    return closed({key: schema, 'links': links}, [key])


def accepted(key: str, cls: type[objects.Resource]) -> Renderer:
    """Return a renderer for a resource that an action works on."""

    def render(result: resources.Accepted, manifest: Manifest) -> Rendered:
        content = objects.to_json(getattr(result, key), manifest)
        return Rendered({key: content}, result.action)

    return Renderer(render, item(key, cls).schema, starts_action=True)


def _render_operations(result: Any, manifest: Manifest) -> Rendered:
    return Rendered(objects.to_json(result, manifest))


def _operations_schema(version: Version, early: bool) -> Schema | None:
    cls = resources.ProfileTypeOperations
    return resource_schema(cls, version, early=early)


def _with_cluster(event: dict[str, Any]) -> dict[str, Any]:
    """Add the key ``cluster`` of the API reference, which is always null.

    Senlin 16 has the whole row of the cluster there, which typed clients such
    as gophercloud reject.
    """
    event['cluster'] = None
    return event


def _render_event(result: resources.Event, manifest: Manifest) -> Rendered:
    return Rendered(
        {'event': _with_cluster(objects.to_json(result, manifest))}
    )


def _render_events(result: Any, manifest: Manifest) -> Rendered:
    events = objects.to_json_list(result, manifest)
    return Rendered({'events': [_with_cluster(event) for event in events]})


def _event_schema(version: Version, early: bool) -> Schema | None:
    """Return the schema of an event with the key ``cluster``."""
    schema = resource_schema(resources.Event, version, early=early)
    if schema is None:
        return None
    properties = {**schema['properties'], 'cluster': {'type': 'null'}}
    required = [*schema['required'], 'cluster']
    return {**schema, 'properties': properties, 'required': required}


def _render_build_info(
    result: resources.BuildInfo, manifest: Manifest
) -> Rendered:
    builds = objects.to_json(result, manifest)
    # The API's own revision; the engine cannot know it.
    builds['api'] = {'revision': importlib.metadata.version('vobjects')}
    return Rendered({'build_info': builds})


_ACTION_ID: Schema = {'type': 'string', 'format': 'uuid'}

#: The ID of an action, also in Location.
action_id = Renderer(
    lambda result, manifest: Rendered(
        {'action': result.action}, result.action
    ),
    lambda version, early: under_keys('action', content=_ACTION_ID),
    starts_action=True,
)

#: No body; Location names the action that deletes the resource.
action_location = Renderer(
    lambda result, manifest: Rendered(None, result.action),
    lambda version, early: None,
    starts_action=True,
)

#: No body.
no_content = Renderer(
    lambda result, manifest: Rendered(None), lambda version, early: None
)

#: The operations that a profile type supports.
operations = Renderer(_render_operations, _operations_schema)

#: An event.
event = Renderer(
    _render_event,
    lambda version, early: under_keys(
        'event', content=_event_schema(version, early)
    ),
)

#: Events.
events = Renderer(
    _render_events,
    lambda version, early: _page_schema(
        'events', _event_schema(version, early)
    ),
)

#: The builds of the engine and the API.
build_info = Renderer(
    _render_build_info, item('build_info', resources.BuildInfo).schema
)
