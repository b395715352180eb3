# SPDX-License-Identifier: Apache-2.0
"""Serve one route: validate input, call an engine, render the result.

Everything that depends only on the route (field names, schemas, defaults) is
computed at startup; a request looks it up by microversion.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import urllib.parse
from collections.abc import Callable, Collection, Iterator, Mapping
from http import HTTPStatus
from typing import Any, Protocol

import webob

from api import (
    authentication,
    held_response,
    policy,
    receiver_rules,
    renderers,
    request_body,
    routes,
    senlin_messages,
    webhooks,
)
from api import errors as api_errors
from vobjects import exceptions, fields, objects
from vobjects.clustering import consts
from vobjects.clustering import errors as engine_errors
from vobjects.clustering.context import RequestContext
from vobjects.clustering.requests.common import ListRequest
from vobjects.controllers import request_parsing
from vobjects.microversions import (
    discovery,
    errors,
    nested_objects,
    query,
    schema,
    validation,
)
from vobjects.microversions.version_policy import MICROVERSION, VersionPolicy
from vobjects.objects.manifest import Manifest, at_microversion, within
from vobjects.rpc import byte_budget
from vobjects.rpc.response_text import ResponseText
from vobjects.versions import Maximum, Version
from vobjects.wire import dumps


class Client(Protocol):
    """Sends requests to engines; see :class:`vobjects.rpc.client.Client`."""

    on_downgrade: Callable[[str], None]

    def call(
        self,
        context: RequestContext,
        request: objects.Request,
        manifest: Manifest | None = None,
        /,
    ) -> Any:
        """Send a request to an engine, and return its result."""

    def call_for_text(
        self,
        context: RequestContext,
        request: objects.Request,
        versions: Manifest,
        /,
        *,
        shown: Manifest,
        part: str,
    ) -> ResponseText:
        """Send a request to an engine, and return its result as JSON."""


@dataclasses.dataclass(frozen=True)
class Service:
    """Settings and components that all handlers share.

    :ivar versions: version policy of the service
    :ivar client: sends requests to engines
    :ivar maximum: returns the highest microversion served now; raises
        vobjects.exceptions.NoLivePeer
    :ivar max_json_size: maximum bytes of a JSON field
    :ivar max_limit: maximum items in a list page
    :ivar lists: bytes that responses to lists may have at a time
    :ivar strict_requests: whether to reject requests that are accepted only
        for compatibility with Senlin
    :ivar public_url: root URL for links; if empty, the URL of the request
    """

    versions: VersionPolicy
    client: Client
    maximum: Callable[[], Maximum]
    authenticate: authentication.Authenticate
    enforcer: policy.Enforcer
    max_body_size: int
    max_json_size: int
    max_limit: int
    lists: byte_budget.ByteBudget
    strict_requests: bool = False
    public_url: str = ''


class Handler:
    """Serves one route.

    :raises vobjects.exceptions.DeclarationError: the route does not match its
        request type
    """

    def __init__(self, route: routes.Route, service: Service) -> None:
        self.route = route
        self._service = service
        self._type = route.request
        self._client_fields = tuple(route.client_fields())
        self._query_fields = tuple(route.query_fields())
        key = route.params.key
        body = f'body.{key}' if key else 'body'
        self._part = body if route.params.body else 'query'
        self._single_valued = _single_valued(self._type, self._query_fields)
        self._defaults = _defaults(route)
        self._has_inner_objects = bool(
            nested_objects.object_fields(self._type, self._type.VERSION)
        )
        self._json_fields = [
            name
            for name, field in self._type.fields.items()
            if isinstance(field, fields.JsonField)
        ]
        self._is_list = issubclass(self._type, ListRequest)
        self._check_route()
        self._early = service.versions.accepts_early
        self._implied: dict[Version, Mapping[str, Any]] = {}
        #: Manifests of the microversion, and of the types in the response.
        self._manifests: dict[Version, tuple[Manifest, Manifest]] = {}
        for version in service.versions.versions:
            object_version = self._version_at(version)
            if object_version is not None:
                schema.request_schema_at(
                    self._type, version, self._client_fields, early=self._early
                )
                versions = at_microversion(version, early=self._early)
                cls = route.renderer.cls
                shown = within(cls, versions) if cls else Manifest({})
                self._manifests[version] = versions, shown
                known = self._type.fields_at(object_version)
                self._implied[version] = {
                    name: value
                    for name, value in route.params.implied
                    if name in known
                }

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
        if not self.route.forward_token:
            caller.auth_token = None
        caller.is_admin = self._service.enforcer.is_admin(caller)
        self._service.enforcer.check(caller, self.route.rule)
        try:
            rpc_request: Any = self.build_request(
                environ, version, path, content
            )
        except errors.ValidationError as error:
            lookup_type = self.route.lookup_first
            if lookup_type and _is_unknown_in_body(error):
                lookup = lookup_type(**path)
                lookup.obj_set_defaults()
                # Raises NotFound, which takes precedence, if the resource is
                # missing.
                self._fetch(caller, lookup, version)
            raise
        if getattr(rpc_request, policy.GLOBAL_PROJECT, False):
            self._service.enforcer.check(caller, policy.GLOBAL_PROJECT)
        if self.route.rule in policy.CHECKED_RECEIVERS:
            caller.denied_actions = receiver_rules.denied_actions(
                self._service.enforcer,
                caller,
                path.get('identity'),
                lambda asking, lookup: self._fetch(asking, lookup, version),
            )
        render = self.route.renderer.render
        if not self._is_list:
            result = self._send(caller, rpc_request, version)
            return self._respond(environ, render(result))
        # Until the engine responds, the size of the page is unknown.
        reservation = self._service.lists.reserve(
            consts.MAX_PAGE_BYTES, caller.project_id or ''
        )
        if reservation is None:
            raise api_errors.TooManyLists
        result, cut = self._list_page(caller, rpc_request, version)
        rendered = render(result)
        if cut and result.count and rendered.body is not None:
            href = self._next_page_url(environ, result.last)
            body = renderers.with_links(rendered.body, href)
            rendered = renderers.Rendered(body)
        response = self._respond(environ, rendered)
        size = response.content_length or 0
        reservation.shrink(size)
        response.app_iter = held_response.HeldResponse(
            response.app_iter, reservation
        )
        response.content_length = size  # WebOb has just deleted it
        return response

    def exists_at(self, version: Version) -> bool:
        """Return whether a microversion has this method."""
        return self._version_at(version) is not None

    def _version_at(self, version: Version) -> str | None:
        """Return the object version accepted at a microversion."""
        return self._type.version_at(version, early=self._early)

    def check_version(self, version: Version) -> None:
        """Reject a microversion that does not have this method.

        :raises vobjects.microversions.errors.MethodNotAtVersion: names the
            first microversion that has it
        """
        if not self.exists_at(version):
            since = self._type.introduced() or self._service.versions.minimum
            raise errors.MethodNotAtVersion(
                self._name(), version, ((since, None),)
            )

    def _name(self) -> str:
        """Return a readable name of the method."""
        route = self.route
        suffix = f' with {route.params.key!r}' * route.params.dispatch_on_key
        return f'{route.method} {route.path}{suffix}'

    def build_request(
        self,
        environ: Mapping[str, Any],
        version: Version,
        path: Mapping[str, str],
        content: Any,
    ) -> objects.Request:
        """Return the validated engine request, with defaults.

        :param content: see :meth:`__call__`
        :raises vobjects.microversions.errors.InputError: the input is invalid
        """
        params = self.route.params
        values: dict[str, Any] = {
            name: self._root(environ) if value is routes.ROOT else value
            for name, value in self._implied[version].items()
        }
        for name, identity in path.items():
            request_body.check_identity(name, identity)
            values[name] = identity
        text = environ.get('QUERY_STRING')
        pairs = query.parse_pairs(text) if text else []
        if pairs and not self._service.strict_requests:
            pairs = query.drop_repeated(
                pairs, self._single_valued, skip_empty=params.ignore_empty
            )
        if params.webhook:
            only_body = 'only_body' in values
            values |= webhooks.collect(pairs, content, only_body=only_body)
            self._check_sizes(environ, values, 'body')
            return self._make_request(version, values)
        if pairs or not params.body:
            query_values = self._read_query(version, pairs)
            _check_lengths(query_values, 'query')
            values |= query_values
        if params.body and content is not request_body.NO_BODY:
            self._validate(version, content)
            _check_given_once(values, content, self._part)
            _check_lengths(content, self._part)
            self._check_sizes(environ, content, self._part)
            values |= content
        return self._make_request(version, values)

    def _read_query(
        self, version: Version, pairs: list[tuple[str, str]]
    ) -> dict[str, Any]:
        """Validate and convert the query parameters."""
        upper = self.route.params.uppercase
        pairs = [
            (name, value.upper() if name in upper else value)
            for name, value in pairs
        ]
        try:
            return query.coerce_query(
                *(self._type, version, self._query_fields, pairs),
                early=self._early,
            )
        except errors.ValidationError as error:
            self._set_message(error, in_query=True)
            raise

    def _validate(self, version: Version, content: Any) -> None:
        """Validate the body against the schema of the microversion."""
        try:
            validation.validate(
                self._type,
                version,
                self._client_fields,
                content,
                self._part,
                early=self._early,
            )
        except errors.ValidationError as error:
            self._set_message(error, in_query=False)
            raise

    def _check_sizes(
        self, environ: Mapping[str, Any], values: Any, where: str
    ) -> None:
        """Reject fields whose JSON is too long."""
        limit = self._service.max_json_size
        if environ.get(request_body.BYTES_READ, 0) <= limit:
            return
        for name in self._json_fields:
            size = len(dumps(values.get(name)))
            if size > limit:
                raise errors.ValidationError(
                    f'{where}.{name}',
                    f'must have at most {limit} bytes as JSON, not {size}',
                )

    def _list_page(
        self,
        caller: RequestContext,
        request: Any,
        version: Version,
    ) -> tuple[ResponseText, bool]:
        """Return one page of a list, within the size limits.

        :returns: the page, and whether the page was cut and more may follow
        """
        max_limit = self._service.max_limit
        limit = request.limit if 'limit' in request else None
        request.limit = max_limit if limit is None else min(limit, max_limit)
        try:
            result = self._send(caller, request, version)
        except engine_errors.ListTooLarge as error:
            request.limit = min(request.limit, int(error.rows))
            result = self._send(caller, request, version)
        cut = request.limit != limit and result.count == request.limit
        return result, cut

    def _next_page_url(self, environ: dict[str, Any], marker: str) -> str:
        """Return the URL of the page after a marker."""
        pairs = [
            (name, value)
            for name, value in query.parse_pairs(
                environ.get('QUERY_STRING', '')
            )
            if name != 'marker'
        ]
        path = urllib.parse.quote(request_body.decoded_path(environ))
        text = urllib.parse.urlencode([*pairs, ('marker', marker)])
        return f'{self._root(environ)}{path}?{text}'

    def _set_message(
        self, error: errors.ValidationError, *, in_query: bool
    ) -> None:
        """Set the message of a validation error to Senlin's."""
        if error.fault:
            error.compat_message = senlin_messages.field_message(
                error.fault, self.route.path, in_query=in_query
            )

    def _make_request(
        self, version: Version, values: dict[str, Any]
    ) -> objects.Request:
        """Build the request at its microversion, and fill in the defaults."""
        request = request_parsing.build(
            self._type, version, values, self._part, early=self._early
        )
        for name, default in self._defaults.items():
            if name not in request:
                setattr(request, name, copy.copy(default))
        if self._has_inner_objects:
            nested_objects.set_inner_defaults(request)
        return request

    def _root(self, environ: Mapping[str, Any]) -> str:
        """Return the root URL of the API as the client sees it."""
        return self._service.public_url or discovery.base_url(environ)

    def _send(
        self,
        caller: RequestContext,
        request: objects.Request,
        version: Version,
    ) -> ResponseText:
        """Return an engine's result as the microversion shows it."""
        versions, shown = self._manifests[version]
        with self._negotiating(version):
            return self._service.client.call_for_text(
                *(caller, request, versions),
                shown=shown,
                part=self.route.renderer.part,
            )

    def _fetch(
        self,
        caller: RequestContext,
        request: objects.Request,
        version: Version,
    ) -> Any:
        """Return an engine's result as objects."""
        versions, _ = self._manifests[version]
        with self._negotiating(version):
            return self._service.client.call(caller, request, versions)

    @contextlib.contextmanager
    def _negotiating(self, version: Version) -> Iterator[None]:
        try:
            yield
        except (
            exceptions.LossyDowngrade,
            exceptions.UnsupportedType,
        ) as error:
            # An older engine joined after this request was accepted.
            raise self._negotiation_error(error, version) from error

    def _negotiation_error(
        self,
        error: exceptions.LossyDowngrade | exceptions.UnsupportedType,
        version: Version,
    ) -> errors.NegotiationError:
        """Return the error that sending this request again would raise."""
        lowest = self._service.versions.minimum
        limit = self._service.versions.limit(self._service.maximum())
        cls = objects.registered_type(error.type_name)
        if _is_supported(cls.version_at(version), error):
            name, needs = self._name(), cls.introduced()
            if isinstance(error, exceptions.LossyDowngrade):
                name = repr(error.field)
                if error.field in cls.fields:
                    needs = cls.first_microversion_of(error.field)
            limits = (lowest, limit.version)
            return errors.NotServedEarly(
                name, version, needs, limits, str(error)
            )
        if limit.version >= version:
            # The error already knows a limit that the fleet has not reported.
            supported = [
                lower
                for lower in self._service.versions.versions
                if lower < version
                and _is_supported(cls.version_at(lower), error)
            ]
            limit = Maximum(max(supported, default=lowest), str(error))
        return errors.UnsupportedVersion(str(version), lowest, limit)

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
            root = self._root(environ)
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


def _defaults(route: routes.Route) -> dict[str, Any]:
    """Return the values of omitted fields; an update keeps what it omits."""
    return {
        name: field.default
        for name, field in route.request.fields.items()
        if field.default is not fields.UnspecifiedDefault
        and not (field.nullable and route.method == routes.PATCH)
    }


def _is_unknown_in_body(error: errors.ValidationError) -> bool:
    return (
        error.fault is not None
        and error.fault.kind == 'unknown'
        and error.path.startswith('body')
    )


def _single_valued(
    cls: type[objects.Request], names: Collection[str]
) -> frozenset[str]:
    """Return the query parameters that take one value, not a list."""
    return frozenset(
        name
        for name in names
        if name in cls.fields
        and 'array' not in schema.field_schema(cls.fields[name])['type']
    )


def _check_lengths(values: Mapping[str, Any], where: str) -> None:
    for name, value in values.items():
        for text in value if isinstance(value, list) else (value,):
            if isinstance(text, str) and len(text) > request_body.MAX_TEXT:
                raise errors.ValidationError(
                    f'{where}.{name}',
                    f'must have at most {request_body.MAX_TEXT} characters,'
                    f' not {len(text)}',
                )


def _check_given_once(
    values: Mapping[str, Any], content: Mapping[str, Any], where: str
) -> None:
    for name in content:
        if name in values:
            raise errors.ValidationError(
                f'{where}.{name}',
                'must be in the query or in the body, not in both',
            )


def _is_supported(
    object_version: str | None,
    error: exceptions.LossyDowngrade | exceptions.UnsupportedType,
) -> bool:
    if object_version is None:
        return True
    supported = getattr(error, 'to_version', None)
    return supported is not None and (
        Version.parse(object_version) <= Version.parse(supported)
    )
