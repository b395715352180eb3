# SPDX-License-Identifier: Apache-2.0
"""Serve one route: build the request, call an engine, render the result."""

from __future__ import annotations

import urllib.parse
from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from typing import Any

import webob

from api import (
    engine_calls,
    policy,
    renderers,
    request_body,
    request_builder,
    routes,
    senlin_messages,
)
from api import errors as api_errors
from api.service import Service
from vobjects import exceptions
from vobjects.clustering import consts
from vobjects.clustering.context import RequestContext
from vobjects.clustering.requests.common import ListRequest
from vobjects.microversions import errors, query
from vobjects.microversions.version_policy import MICROVERSION
from vobjects.microversions.version_ranges import VersionRange
from vobjects.rpc.byte_budget import Reservation
from vobjects.versions import Version


class Handler:
    """Serves one route.

    :raises vobjects.exceptions.DeclarationError: the route does not match its
        request type
    """

    def __init__(self, route: routes.Route, service: Service) -> None:
        self.route = route
        self._service = service
        self._type = route.request
        self._is_list = issubclass(self._type, ListRequest)
        self._forwards_token = route.forwards_token
        self._check_route()
        self._builder = request_builder.RequestBuilder(route, service)
        self._engine = engine_calls.EngineCalls(
            route, service, self._builder.versions
        )

    def __call__(
        self,
        request: webob.Request,
        caller: RequestContext,
        path: Mapping[str, str],
        content: Any,
    ) -> webob.Response:
        """Serve a request.

        :param caller: context of the caller; its token is dropped unless the
            engine has to act on the caller's behalf
        :param path: the fields in the path
        :param content: the route's part of the body, or
            ``request_body.NO_BODY``
        """
        environ = request.environ
        version: Version = environ[MICROVERSION]
        if not self._forwards_token:
            caller.auth_token = None
        caller.is_admin = self._service.enforcer.is_admin(caller)
        self._service.enforcer.check(caller, self.route.rule)
        try:
            rpc_request: Any = self._builder.build(
                environ, version, path, content
            )
        except errors.ValidationError as error:
            if error.fault:
                error.compat_message = senlin_messages.field_message(
                    error.fault,
                    self.route.path,
                    in_query=error.path.startswith('query'),
                )
            lookup_type = self.route.lookup_first
            if lookup_type and _is_unknown_in_body(error):
                lookup = lookup_type(**path)
                lookup.obj_set_defaults()
                # Raises NotFound, which takes precedence, if the resource is
                # missing.
                self._engine.fetch(caller, lookup, version)
            raise
        if getattr(rpc_request, policy.GLOBAL_PROJECT, False):
            self._service.enforcer.check(caller, policy.GLOBAL_PROJECT)
        if self.route.rule in policy.CHECKED_RECEIVERS:
            caller.denied_actions = policy.denied_actions(
                self._service.enforcer,
                caller,
                path.get('identity'),
                lambda asking, lookup: self._engine.fetch(
                    asking, lookup, version
                ),
            )
        render = self.route.renderer.render
        if not self._is_list:
            result = self._engine.send(caller, rpc_request, version)
            return self._respond(environ, render(result))
        # Until the engine responds, the size of the page is unknown.
        reservation = self._service.lists.reserve(
            consts.MAX_PAGE_BYTES, caller.project_id or ''
        )
        if reservation is None:
            raise api_errors.TooManyLists
        result, cut = self._engine.page(caller, rpc_request, version)
        rendered = render(result)
        if cut and result.count and rendered.body is not None:
            href = self._next_page_url(environ, result.last)
            body = renderers.with_links(rendered.body, href)
            rendered = renderers.Rendered(body)
        response = self._respond(environ, rendered)
        size = response.content_length or 0
        reservation.shrink(size)
        response.app_iter = _HeldResponse(response.app_iter, reservation)
        response.content_length = size  # WebOb has just deleted it
        return response

    def exists_at(self, version: Version) -> bool:
        """Return whether a microversion has this method."""
        return version in self._builder.versions

    def check_version(self, version: Version) -> None:
        """Reject a microversion that does not have this method.

        :raises vobjects.microversions.errors.MethodNotAtVersion: names the
            first microversion that has it
        """
        if version not in self._builder.versions:
            since = self._type.introduced() or self._service.versions.minimum
            raise errors.MethodNotAtVersion(
                str(self.route), version, (VersionRange(since),)
            )

    def _next_page_url(self, environ: dict[str, Any], marker: str) -> str:
        pairs = [
            (name, value)
            for name, value in query.parse_pairs(
                environ.get('QUERY_STRING', '')
            )
            if name != 'marker'
        ]
        path = urllib.parse.quote(request_body.decoded_path(environ))
        text = urllib.parse.urlencode([*pairs, ('marker', marker)])
        return f'{self._service.root_url(environ)}{path}?{text}'

    def _respond(
        self, environ: dict[str, Any], rendered: renderers.Rendered
    ) -> webob.Response:
        headers = []
        body = rendered.body or b''
        if self.route.status != HTTPStatus.NO_CONTENT:
            headers = [
                ('Content-Type', 'application/json'),
                ('Content-Length', str(len(body))),
            ]
        if rendered.action:
            root = self._service.root_url(environ)
            headers.append(
                ('Location', f'{root}/v1/actions/{rendered.action}')
            )
        return webob.Response(body, self.route.status, headers)

    def _check_route(self) -> None:
        known = self._type.fields.keys()
        for name in self.route.path_fields:
            if name not in known:
                raise exceptions.DeclarationError(
                    f'{self.route.path}: {self._type.obj_name()} has no field'
                    f' {name!r}'
                )


class _HeldResponse:
    """A WSGI body; ``close()`` releases its reserved bytes.

    The server calls it when it has the body.
    """

    def __init__(
        self, parts: Iterable[bytes], reservation: Reservation
    ) -> None:
        self._parts = parts
        self.close = reservation.release

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._parts)


def _is_unknown_in_body(error: errors.ValidationError) -> bool:
    return (
        error.fault is not None
        and error.fault.kind == 'unknown'
        and error.path.startswith('body')
    )
