# SPDX-License-Identifier: Apache-2.0
"""Map path and method to a handler, with a tree built from the routes.

Each level of the tree is one path segment. Literal segments take precedence
over named ones, so ``POST /v1/profiles/validate`` validates a spec while ``GET
/v1/profiles/validate`` shows the profile of that name.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import webob

from api import (
    authentication,
    errors,
    handler,
    request_body,
    routes,
    senlin_messages,
)
from api.service import Service
from vobjects import exceptions, phrases
from vobjects.controllers import actions
from vobjects.microversions import discovery
from vobjects.microversions import errors as api_errors
from vobjects.microversions.version_policy import (
    MICROVERSION,
    ROUTE,
)
from vobjects.versions import Version

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

HEAD = 'HEAD'
OPTIONS = 'OPTIONS'


@dataclasses.dataclass(slots=True)
class Method:
    """Handlers for one method of a path: one, or one per body key.

    :ivar authenticate: returns the context of the caller
    """

    path: str
    authenticate: authentication.Authenticate
    single: handler.Handler | None = None
    by_key: dict[str, handler.Handler] = dataclasses.field(
        default_factory=dict
    )

    @property
    def handlers(self) -> list[handler.Handler]:
        """All handlers of the method."""
        return [self.single] if self.single else list(self.by_key.values())

    def exists_at(self, version: Version) -> bool:
        """Return whether any handler exists at a microversion."""
        return any(item.exists_at(version) for item in self.handlers)


@dataclasses.dataclass(slots=True)
class Node:
    """A segment of the tree.

    :ivar names: names of the named segments on the path to this node
    """

    literals: dict[str, Node] = dataclasses.field(default_factory=dict)
    named: Node | None = None
    names: tuple[str, ...] = ()
    methods: dict[str, Method] = dataclasses.field(default_factory=dict)

    def find(
        self, segments: Iterable[str]
    ) -> list[tuple[Node, tuple[str, ...]]]:
        """Return the nodes that a path reaches, the most literal first.

        :returns: nodes with the values of their named segments
        """
        reached: list[tuple[Node, tuple[str, ...]]] = [(self, ())]
        for segment in segments:
            previous, reached = reached, []
            for node, values in previous:
                if segment in node.literals:
                    reached.append((node.literals[segment], values))
                if node.named is not None and segment:
                    reached.append((node.named, (*values, segment)))
        return [pair for pair in reached if pair[0].methods]


class Dispatcher:
    """The innermost WSGI application.

    :raises vobjects.exceptions.DeclarationError: two routes are the same
    """

    def __init__(
        self,
        table: Sequence[routes.Route],
        service: Service,
    ) -> None:
        self._pages = discovery.paths(service.versions)
        self._service = service
        self._root = Node()
        for route in table:
            self._add(route)
        self._max_slashes = max(route.path.count('/') for route in table)

    def __call__(
        self, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        request = webob.Request(environ)
        response = self._respond(request)
        body: Iterable[bytes] = response(environ, start_response)
        return body

    def _respond(self, request: webob.Request) -> webob.Response:
        path = self._service.versions.canonical_path(
            request_body.decoded_path(request.environ)
        )
        version: Version = request.environ[MICROVERSION]
        if request.method == OPTIONS:
            return self._options(request, path, version)
        if path in self._pages:
            request_body.require_read(request.environ, path)
        method, names = self._find(request.method, path, version)
        request.environ[ROUTE] = method.path
        # Authenticate first, so that strangers cannot send large bodies.
        caller = method.authenticate(request.environ)
        if method.single is not None:
            method.single.check_version(version)
            content = self._content(request, method.single.route)
            return method.single(request, caller, names, content)
        selected, content = self._select(request, method, version)
        selected.check_version(version)
        return selected(request, caller, names, content)

    def _options(
        self, request: webob.Request, path: str, version: Version
    ) -> webob.Response:
        """Return the methods of a path; needs no authentication."""
        allowed = 'GET, HEAD'
        if path in self._pages:
            request.environ[ROUTE] = path
        else:
            methods: dict[str, Method] = {}
            for node, _values in self._nodes(path):
                methods |= node.methods
            allowed = _allowed(methods, path, version)
            request.environ[ROUTE] = next(iter(methods.values())).path
        headers = [
            ('Allow', f'{allowed}, {OPTIONS}'),
            ('Content-Type', 'application/json'),
            ('Content-Length', '0'),
        ]
        return webob.Response(b'', HTTPStatus.OK, headers)

    def _find(
        self, verb: str, path: str, version: Version
    ) -> tuple[Method, dict[str, str]]:
        name = routes.GET if verb == HEAD else verb
        methods: dict[str, Method] = {}
        for node, values in self._nodes(path):
            method = node.methods.get(name)
            if method is not None:
                return method, dict(zip(node.names, values, strict=True))
            methods |= node.methods
        allowed = _allowed(methods, path, version)
        raise errors.MethodNotAllowed(verb, path, allowed)

    def _nodes(self, path: str) -> list[tuple[Node, tuple[str, ...]]]:
        """Return the nodes that a path reaches; see :meth:`Node.find`."""
        if path.startswith('/') and path.count('/') <= self._max_slashes:
            return self._root.find(path.split('/')[1:])
        return []

    def _content(self, request: webob.Request, route: routes.Route) -> Any:
        """Return a route's part of the body; a GET's body is not read."""
        params = route.params
        if not params.body:
            return request_body.NO_BODY
        content = self._body(
            request,
            only_object=params.webhook and not self._service.strict_requests,
        )
        if content is request_body.NO_BODY and params.body_optional:
            return content
        body = _object(content)
        if params.key_field:
            return _unwrap_field(body, route)
        return _unwrap(body, route) if params.key else body

    def _select(
        self, request: webob.Request, method: Method, version: Version
    ) -> tuple[handler.Handler, Any]:
        """Return the handler and content of the one action in the body."""
        body = _object(self._body(request))
        available = (
            key
            for key, item in method.by_key.items()
            if item.exists_at(version)
        )
        try:
            key = actions.action_key(body, method.by_key, available)
        except api_errors.ValidationError as error:
            error.compat_message = senlin_messages.not_one_action(
                method.path, body
            )
            raise
        selected = method.by_key[key]
        content = _map(
            body[key], f'body.{key}', senlin_messages.not_a_map(method.path)
        )
        field = selected.route.params.body_field
        return selected, {field: content} if field else content

    def _body(
        self, request: webob.Request, *, only_object: bool = False
    ) -> Any:
        return request_body.read_json(
            request.environ,
            self._service.max_body_size,
            strict=self._service.strict_requests,
            only_object=only_object,
        )

    def _add(self, route: routes.Route) -> None:
        node = self._root
        names: list[str] = []
        for segment in route.path.split('/')[1:]:
            if segment.startswith('{'):
                names.append(segment[1:-1])
                node.named = node.named or Node(names=tuple(names))
                node = node.named
            else:
                node = node.literals.setdefault(
                    segment, Node(names=tuple(names))
                )
        method = node.methods.setdefault(
            route.method,
            Method(
                route.path,
                authentication.anonymous
                if route.public
                else self._service.authenticate,
            ),
        )
        key = route.params.key
        if route.params.dispatch_on_key:
            duplicate = method.single is not None or key in method.by_key
            method.by_key[key] = handler.Handler(route, self._service)
        else:
            duplicate = bool(method.handlers)
            method.single = handler.Handler(route, self._service)
        if duplicate or node.names != tuple(names):
            raise exceptions.DeclarationError(
                f'{route.method} {route.path} is in the route table twice'
            )


def _allowed(
    methods: Mapping[str, Method], path: str, version: Version
) -> str:
    """Return the methods of a path at a microversion, for Allow.

    :raises api.errors.NotFound: the path does not exist
    :raises vobjects.microversions.errors.MethodNotAtVersion: no method of the
        path exists at this microversion
    """
    if not methods:
        raise errors.NotFound(f'There is nothing at {exceptions.cut(path)}.')
    names = {name for name, item in methods.items() if item.exists_at(version)}
    if not names:
        next(iter(methods.values())).handlers[0].check_version(version)
    if routes.GET in names:
        names.add(HEAD)
    return ', '.join(sorted(names))


def _unwrap(body: dict[str, Any], route: routes.Route) -> Any:
    """Return the value of the single key of a body."""
    key = route.params.key
    message = (
        '' if key in body else senlin_messages.missing_key(route.method, key)
    )
    for name in body:
        if name != key:
            raise api_errors.ValidationError(
                phrases.format_path('body', [name]),
                f'unknown; the body is {{"{key}": {{...}}}}',
                compat_message=message,
            )
    if message:
        raise api_errors.ValidationError(
            'body', f'{key!r} is required', compat_message=message
        )
    return body[key]


def _unwrap_field(body: dict[str, Any], route: routes.Route) -> dict[str, Any]:
    """Return the fields of a body whose single key is a field's value."""
    params = route.params
    field = params.key_field
    if len(body) != 1:
        raise api_errors.ValidationError(
            'body',
            f'must name one {field}, not {len(body) or "none"}',
            compat_message=senlin_messages.not_one_action(
                route.path, body, senlin_messages.OPERATION
            ),
        )
    ((name, content),) = body.items()
    if content is None and params.body_field:
        # gophercloud sends null for an operation without parameters.
        content = {}
    content = _map(content, phrases.format_path('body', [name]))
    if params.body_field:
        return {field: name, params.body_field: content}
    if params.flat_field and content.keys().isdisjoint(route.request.fields):
        return {field: name, params.flat_field: content}
    if field in content:
        raise api_errors.ValidationError(
            phrases.format_path('body', [name, field]),
            f'unknown; {name!r} is the {field}',
        )
    return {field: name, **content}


def _object(content: Any) -> dict[str, Any]:
    if content is request_body.NO_BODY:
        raise api_errors.MalformedBody(
            'The request body is empty; a JSON object is expected.'
        )
    return _map(content, 'body')


def _map(content: Any, where: str, compat_message: str = '') -> dict[str, Any]:
    if not isinstance(content, dict):
        text = exceptions.cut_text(json.dumps(content, ensure_ascii=False))
        raise api_errors.ValidationError(
            where,
            f'must be a JSON object, not {text}',
            compat_message=compat_message,
        )
    return content
