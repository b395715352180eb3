# SPDX-License-Identifier: Apache-2.0
"""One method of the API: validate, build the request, send it, render.

What follows from a route (field names, schemas, defaults) is made when the
service starts; a request only looks it up by its microversion.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Protocol

import webob

from api import answers, context, inputs, policy, routes, webhooks, words
from vobjects import base, exceptions, fields, manifest
from vobjects.clustering.context import RequestContext
from vobjects.codec.text import dumps
from vobjects.microversions import discovery, errors, query, schema
from vobjects.microversions.policy import MICROVERSION, Maximum, Policy
from vobjects.versions import Version


class Client(Protocol):
    """What sends requests; see :class:`vobjects.rpc.client.Client`."""

    on_downgrade: Callable[[str], None]

    def call(
        self,
        context: RequestContext,
        request: base.Request,
        shown: manifest.Manifest | None = None,
    ) -> Any:
        """Ask an engine, and return its answer."""


@dataclasses.dataclass(frozen=True)
class Service:
    """What all handlers share.

    :ivar versions: what the service promises about its versions
    :ivar client: reaches the engines
    :ivar maximum: highest microversion served now; raises
        vobjects.exceptions.NoLivePeer
    :ivar public_url: what clients call the root; empty: what they said
    """

    versions: Policy
    client: Client
    maximum: Callable[[], Maximum]
    authenticate: context.Authenticate
    enforcer: policy.Enforcer
    max_body_size: int
    public_url: str = ''

    def every_version(self) -> list[Version]:
        """Return all microversions this build has."""
        lowest, highest = self.versions.minimum, self.versions.maximum
        return [
            Version(lowest.major, minor)
            for minor in range(lowest.minor, highest.minor + 1)
        ]


class Handler:
    """Serves one route.

    :raises vobjects.exceptions.DeclarationError: the route does not fit its
        request type
    """

    def __init__(self, route: routes.Route, service: Service) -> None:
        self.route = route
        self._service = service
        self._type = route.request
        self._others = tuple(route.client_names())
        self._in_query = tuple(route.query_names())
        self._defaults = _defaults(self._type)
        self._data = self._type._obj_primitive_key('data')
        self._changes = self._type._obj_primitive_key('changes')
        self._check()
        self._envelopes: dict[Version, Mapping[str, str]] = {}
        self._implied: dict[Version, Mapping[str, Any]] = {}
        for version in service.every_version():
            object_version = self._type.version_at(version)
            if object_version is not None:
                schema.compiled_at(self._type, version, self._others)
                self._envelopes[version] = _envelope(
                    self._type, object_version
                )
                known = self._type.fields_at(object_version)
                self._implied[version] = {
                    name: value
                    for name, value in route.given.implied
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

        :param caller: who asks; its token stays here, unless the engine has
            to act for it
        :param path: the fields that are in the path
        :param content: what the body holds for this route, or
            ``inputs.NO_BODY``
        """
        environ = request.environ
        version: Version = environ[MICROVERSION]
        if not self.route.hands_on_token:
            caller.auth_token = None
        caller.is_admin = self._service.enforcer.is_admin(caller)
        self._service.enforcer.check(caller, self.route.rule)
        asked = self.build(environ, version, path, content)
        if getattr(asked, policy.GLOBAL_PROJECT, False):
            self._service.enforcer.check(caller, policy.GLOBAL_PROJECT)
        shown = manifest.at_microversion(version)
        answer = self._send(caller, asked, version, shown)
        return self._respond(environ, self.route.render(answer, shown))

    def is_at(self, version: Version) -> bool:
        """Tell whether a microversion has this method."""
        return self._type.version_at(version) is not None

    def require(self, version: Version) -> None:
        """Refuse a microversion that does not have this method.

        :raises vobjects.microversions.errors.MethodNotAtVersion: since when
        """
        if not self.is_at(version):
            since = self._type.introduced() or self._service.versions.minimum
            key = self.route.given.key if self.route.given.selects else ''
            name = f'{self.route.method} {self.route.path}' + (
                f' with {key!r}' if key else ''
            )
            raise errors.MethodNotAtVersion(name, version, ((since, None),))

    def build(
        self,
        environ: Mapping[str, Any],
        version: Version,
        path: Mapping[str, str],
        content: Any,
    ) -> base.Request:
        """Return what is asked, validated, with defaults.

        :param content: as for a call
        :raises vobjects.microversions.errors.InputError: what is wrong
        """
        given = self.route.given
        values: dict[str, Any] = {
            name: self._root(environ) if value is routes.ROOT else value
            for name, value in self._implied[version].items()
        }
        for name, identity in path.items():
            inputs.check_identity(name, identity)
            values[name] = identity
        text = environ.get('QUERY_STRING')
        pairs = query.pairs(text) if text else []
        if given.webhook:
            only_body = 'only_body' in values
            values |= webhooks.collect(pairs, content, only_body=only_body)
            return self._request(version, values)
        if pairs or not given.body:
            asked = self._read(version, pairs)
            _check_lengths(asked, 'query')
            values |= asked
        if given.body and content is not inputs.NO_BODY:
            where = f'body.{given.key}' if given.key else 'body'
            self._validate(version, content, where)
            _refuse_twice(values, content, where)
            _check_lengths(content, where)
            values |= content
        return self._request(version, values)

    def _read(
        self, version: Version, pairs: list[tuple[str, str]]
    ) -> dict[str, Any]:
        """Return what the query asks."""
        try:
            return query.coerce_query(
                self._type, version, self._in_query, pairs
            )
        except errors.ValidationError as error:
            self._say(error, in_query=True)
            raise

    def _validate(self, version: Version, content: Any, where: str) -> None:
        """Refuse a body that is not what its version asks for."""
        try:
            schema.validate(self._type, version, self._others, content, where)
        except errors.ValidationError as error:
            self._say(error, in_query=False)
            raise

    def _say(self, error: errors.ValidationError, *, in_query: bool) -> None:
        """Have a refusal say what Senlin says of it."""
        if error.fault:
            error.said = words.of_fault(
                error.fault, self.route.path, in_query=in_query
            )

    def _request(
        self, version: Version, values: dict[str, Any]
    ) -> base.Request:
        """Build the request as it was at a microversion, and bring it up."""
        asked: base.Request = self._type.obj_from_primitive(
            {
                **self._envelopes[version],
                self._data: values,
                self._changes: list(values),
            }
        )
        for name, default in self._defaults.items():
            if name not in asked:
                setattr(asked, name, copy.copy(default))
        return asked

    def _root(self, environ: Mapping[str, Any]) -> str:
        """Return what the client called the root of the API."""
        return self._service.public_url or discovery.base_url(environ)

    def _send(
        self,
        caller: RequestContext,
        asked: base.Request,
        version: Version,
        shown: manifest.Manifest,
    ) -> Any:
        try:
            return self._service.client.call(caller, asked, shown)
        except (exceptions.LossyDowngrade, exceptions.TypeNotSpoken) as error:
            # An older engine joined after this request was let in.
            raise self._as_negotiated_again(error, version) from error

    def _as_negotiated_again(
        self,
        error: exceptions.LossyDowngrade | exceptions.TypeNotSpoken,
        version: Version,
    ) -> errors.UnsupportedVersion:
        """Return what this request would be refused with if sent anew."""
        lowest = self._service.versions.minimum
        limit = self._service.versions.limit(self._service.maximum())
        if limit.version >= version:
            # What the error knows, the fleet has not told yet.
            limit = Maximum(_below(error, version, lowest), str(error))
        return errors.UnsupportedVersion(str(version), lowest, limit)

    def _respond(
        self, environ: dict[str, Any], rendered: answers.Rendered
    ) -> webob.Response:
        headers = []
        body = b''
        if rendered.body is not None:
            # A number that JSON lacks, from a cloud perhaps, shows as null.
            body = dumps(rendered.body, finite=True)
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

    def _check(self) -> None:
        known = self._type.fields.keys()
        for name in self.route.in_path:
            if name not in known:
                raise exceptions.DeclarationError(
                    f'{self.route.path}: {self._type.obj_name()} has no field'
                    f' {name!r}'
                )


def _defaults(cls: type[base.Request]) -> dict[str, Any]:
    return {
        name: field.default
        for name, field in cls.fields.items()
        if field.default is not fields.UnspecifiedDefault
    }


def _envelope(
    cls: type[base.Request], object_version: str
) -> Mapping[str, str]:
    """Return what a primitive says beside its data."""
    return {
        cls._obj_primitive_key('name'): cls.obj_name(),
        cls._obj_primitive_key('namespace'): cls.OBJ_PROJECT_NAMESPACE,
        cls._obj_primitive_key('version'): object_version,
    }


def _check_lengths(values: Mapping[str, Any], where: str) -> None:
    for name, value in values.items():
        for text in value if isinstance(value, list) else (value,):
            if isinstance(text, str) and len(text) > inputs.MAX_TEXT:
                raise errors.ValidationError(
                    f'{where}.{name}',
                    f'must have at most {inputs.MAX_TEXT} characters, not'
                    f' {len(text)}',
                )


def _refuse_twice(
    values: Mapping[str, Any], content: Mapping[str, Any], where: str
) -> None:
    for name in content:
        if name in values:
            raise errors.ValidationError(
                f'{where}.{name}', 'is given in the query too; give it once'
            )


def _below(
    error: exceptions.LossyDowngrade | exceptions.TypeNotSpoken,
    version: Version,
    lowest: Version,
) -> Version:
    """Return the highest microversion that the error does not rule out."""
    cls = base.registered(error.type_name)
    spoken = getattr(error, 'to_version', None)
    below = [
        candidate
        for minor in range(lowest.minor, version.minor)
        if (candidate := Version(lowest.major, minor))
        and _is_spoken(cls.version_at(candidate), spoken)
    ]
    return below[-1] if below else lowest


def _is_spoken(shown: str | None, spoken: str | None) -> bool:
    if shown is None:
        return True
    return spoken is not None and Version.parse(shown) <= Version.parse(spoken)
