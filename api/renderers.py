# SPDX-License-Identifier: Apache-2.0
"""Render engine results as response bodies, with their JSON schemas.

Each :class:`Renderer` here is for the route table. An engine has written the
resources at the requested microversion; the schema is derived from the same
types.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
from collections.abc import Callable
from typing import Any, NamedTuple

from vobjects import objects, wire
from vobjects.clustering import resources
from vobjects.rpc.response_text import ResponseText
from vobjects.versions import Version
from vobjects_contract.type_schemas import (
    Schema,
    closed,
    list_of,
    under_keys,
)
from vobjects_contract.type_schemas import resource as resource_schema


class Rendered(NamedTuple):
    """A response without its status.

    :ivar body: the JSON text; None for no body
    :ivar action: ID of the action that does the work, for the header Location
    """

    body: bytes | None
    action: str = ''


@dataclasses.dataclass(frozen=True, slots=True)
class Renderer:
    """Renders the result of an engine, and describes the body.

    :ivar cls: type of the resources in the body; None: it has none
    :ivar render: result -> response
    :ivar schema: (microversion, whether fields are shown early) -> schema of
        the body; None if there is no body
    :ivar part: the field of the result that the body shows; empty: all of it
    :ivar starts_action: whether Location names an action
    """

    cls: type[objects.Resource] | None
    render: Callable[[ResponseText], Rendered]
    schema: Callable[[Version, bool], Schema | None]
    part: str = ''
    starts_action: bool = False


def _object(*keys: str) -> Callable[[bytes], bytes]:
    """Return a function that writes a JSON object with one value.

    :param keys: the keys of the value; they need no escapes
    """
    members = (b'"%b":%%b' % key.encode() for key in keys)
    template = b'{%b}' % b','.join(members)
    return lambda value: template % ((value,) * len(keys))


def with_links(body: bytes, href: str) -> bytes:
    """Add the URL of the next page to the body of a page."""
    links = wire.dumps([{'rel': 'next', 'href': href}])
    return b'%b,"links":%b}' % (body[:-1], links)


def item(key: str, cls: type[objects.Resource], *aliases: str) -> Renderer:
    """Return a renderer for one resource below a key.

    :param aliases: further keys that hold the same resource
    """

    write = _object(key, *aliases)

    def render(result: ResponseText) -> Rendered:
        return Rendered(write(result.body))

    def schema(version: Version, early: bool) -> Schema | None:
        content = resource_schema(cls, version, early=early)
        return under_keys(key, *aliases, content=content)

    return Renderer(cls, render, schema)


def items(key: str, cls: type[objects.Resource]) -> Renderer:
    """Return a renderer for a list of resources below a key."""

    def schema(version: Version, early: bool) -> Schema | None:
        content = resource_schema(cls, version, early=early)
        return under_keys(key, content=list_of(content))

    return Renderer(cls, item(key, cls).render, schema)


def page(key: str, cls: type[objects.Resource]) -> Renderer:
    """Return a renderer for a list page, with an optional link to the next."""

    def schema(version: Version, early: bool) -> Schema | None:
        return _page_schema(key, resource_schema(cls, version, early=early))

    return Renderer(cls, item(key, cls).render, schema)


def _page_schema(key: str, content: Schema | None) -> Schema | None:
    schema = list_of(content)
    if schema is None:
        return None
    link = {'rel': {'type': 'string'}, 'href': {'type': 'string'}}
    links = {'type': 'array', 'items': closed(link, link)}
    return closed({key: schema, 'links': links}, [key])


def accepted(key: str, cls: type[objects.Resource]) -> Renderer:
    """Return a renderer for a resource that an action works on."""

    write = _object(key)

    def render(result: ResponseText) -> Rendered:
        return Rendered(write(result.body), result.fields['action'])

    schema = item(key, cls).schema
    return Renderer(cls, render, schema, part=key, starts_action=True)


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


def _render_event(result: ResponseText) -> Rendered:
    event = _with_cluster(wire.loads(result.body))
    return Rendered(wire.dumps({'event': event}, finite=True))


def _render_events(result: ResponseText) -> Rendered:
    events = [_with_cluster(event) for event in wire.loads(result.body)]
    return Rendered(wire.dumps({'events': events}, finite=True))


def _event_schema(version: Version, early: bool) -> Schema | None:
    """Return the schema of an event with the key ``cluster``."""
    schema = resource_schema(resources.Event, version, early=early)
    if schema is None:
        return None
    properties = {**schema['properties'], 'cluster': {'type': 'null'}}
    required = [*schema['required'], 'cluster']
    return {**schema, 'properties': properties, 'required': required}


def _render_build_info(result: ResponseText) -> Rendered:
    builds = wire.loads(result.body)
    # The API's own revision; the engine cannot know it.
    builds['api'] = {'revision': importlib.metadata.version('vobjects')}
    return Rendered(wire.dumps({'build_info': builds}, finite=True))


_write_action = _object('action')

_ACTION_ID: Schema = {'type': 'string', 'format': 'uuid'}

#: The ID of an action, also in Location.
action_id = Renderer(
    None,
    lambda result: Rendered(
        _write_action(result.body), result.fields['action']
    ),
    lambda version, early: under_keys('action', content=_ACTION_ID),
    part='action',
    starts_action=True,
)

#: No body; Location names the action that deletes the resource.
action_location = Renderer(
    None,
    lambda result: Rendered(None, result.fields['action']),
    lambda version, early: None,
    part='action',
    starts_action=True,
)

#: No body.
no_content = Renderer(
    None, lambda result: Rendered(None), lambda version, early: None
)

#: The operations that a profile type supports.
operations = Renderer(
    resources.ProfileTypeOperations,
    lambda result: Rendered(result.body),
    _operations_schema,
)

#: An event.
event = Renderer(
    resources.Event,
    _render_event,
    lambda version, early: under_keys(
        'event', content=_event_schema(version, early)
    ),
)

#: Events.
events = Renderer(
    resources.Event,
    _render_events,
    lambda version, early: _page_schema(
        'events', _event_schema(version, early)
    ),
)

#: The builds of the engine and the API.
build_info = Renderer(
    resources.BuildInfo,
    _render_build_info,
    item('build_info', resources.BuildInfo).schema,
)
