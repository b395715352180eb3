# SPDX-License-Identifier: Apache-2.0
"""Build the engine request of a route from path, query and body.

Everything that depends only on the route (field names, schemas, defaults) is
computed at startup; a request looks it up by microversion.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from api import request_body, routes
from api.service import Service
from vobjects import exceptions, fields, objects, phrases
from vobjects.controllers import request_parsing
from vobjects.microversions import (
    errors,
    nested_objects,
    query,
    schema,
    validation,
)
from vobjects.versions import Version
from vobjects.wire import dumps

#: Query parameter for the format of the body: 1 or 2.
_FORMAT = 'V'
_FORMATS = ('1', '2')


class RequestBuilder:
    """Builds the requests of one route.

    :ivar versions: the microversions that have the method
    """

    def __init__(self, route: routes.Route, service: Service) -> None:
        self._route = route
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
        self._early = service.versions.accepts_early
        self._requires_query = False
        self._implied: dict[Version, Mapping[str, Any]] = {}
        for version in service.versions.versions:
            object_version = self._type.version_at(version, early=self._early)
            if object_version is not None:
                compiled = schema.request_schema_at(
                    self._type, version, self._client_fields, early=self._early
                )
                if compiled.required and not route.params.body:
                    self._requires_query = True
                known = self._type.fields_at(object_version)
                self._implied[version] = {
                    name: value
                    for name, value in route.params.implied
                    if name in known
                }
        self.versions: Collection[Version] = self._implied.keys()

    def build(
        self,
        environ: Mapping[str, Any],
        version: Version,
        path: Mapping[str, str],
        content: Any,
    ) -> objects.Request:
        """Return the validated engine request, with defaults.

        :param environ: of the HTTP request
        :param version: a microversion that has the method
        :param path: the fields in the path
        :param content: the route's part of the body, or
            ``request_body.NO_BODY``
        :raises vobjects.microversions.errors.InputError: the input is invalid
        """
        params = self._route.params
        values: dict[str, Any] = {
            name: self._service.root_url(environ)
            if value is routes.ROOT
            else value
            for name, value in self._implied[version].items()
        }
        for name, identity in path.items():
            request_body.check_identity(name, identity)
            values[name] = identity
        text = environ.get('QUERY_STRING')
        pairs = query.parse_pairs(text) if text else []
        if pairs and not self._service.strict_requests:
            pairs = _drop_repeated(
                pairs, self._single_valued, skip_empty=params.ignore_empty
            )
        if params.webhook:
            only_body = 'only_body' in values
            values |= _webhook_fields(pairs, content, only_body=only_body)
            self._check_sizes(environ, values, 'body')
            return self._make_request(version, values)
        if pairs or self._requires_query:
            values |= query.coerce_query(
                self._type,
                version,
                self._query_fields,
                [
                    (name, text.upper() if name in params.uppercase else text)
                    for name, text in pairs
                ],
                early=self._early,
                by_fields=params.body,
            )
        if params.body and content is not request_body.NO_BODY:
            validation.validate(
                self._type,
                version,
                self._client_fields,
                content,
                self._part,
                early=self._early,
                by_fields=False,
            )
            _check_given_once(values, content, self._part)
            self._check_sizes(environ, content, self._part)
            values |= content
        return self._make_request(version, values)

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

    def _make_request(
        self, version: Version, values: dict[str, Any]
    ) -> objects.Request:
        """Build the request at its microversion, and fill in the defaults."""
        request = request_parsing.build(
            self._type, version, values, self._part, early=self._early
        )
        for name, default in self._defaults.items():
            if name not in request:
                # Not copied: the request is only sent.
                setattr(request, name, default)
        if self._has_inner_objects:
            nested_objects.set_inner_defaults(request)
        return request


def _defaults(route: routes.Route) -> dict[str, Any]:
    """Return the values of omitted fields; an update keeps what it omits."""
    return {
        name: field.default
        for name, field in route.request.fields.items()
        if field.default is not fields.UnspecifiedDefault
        and not (field.nullable and route.method == routes.PATCH)
    }


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


def _check_given_once(
    values: Mapping[str, Any], content: Mapping[str, Any], where: str
) -> None:
    for name in content:
        if name in values:
            raise errors.ValidationError(
                f'{where}.{name}',
                'must be in the query or in the body, not in both',
            )


def _drop_repeated(
    pairs: Iterable[tuple[str, str]],
    single: Collection[str],
    *,
    skip_empty: bool,
) -> list[tuple[str, str]]:
    """Return a query in which some parameters occur at most once.

    :param pairs: names and values
    :param single: names of these parameters; the last value counts
    :param skip_empty: whether to drop them if they are empty
    """
    result: list[tuple[str, str]] = []
    last: dict[str, str] = {}
    for name, text in pairs:
        if name in single:
            last[name] = text
        else:
            result.append((name, text))
    result += (pair for pair in last.items() if pair[1] or not skip_empty)
    return result


def _webhook_fields(
    pairs: Iterable[tuple[str, str]], content: Any, *, only_body: bool
) -> dict[str, Any]:
    """Return the fields ``params`` and ``body`` of a webhook request.

    Up to 1.9, the query has parameters; so has the body, below ``params`` if
    ``V`` is 1. Since 1.10, the body has the parameters. Of the query only
    ``V`` is read; other parameters, as in the URL of a receiver, are ignored.

    :param pairs: query parameters
    :param content: a JSON object, or ``request_body.NO_BODY``
    :param only_body: whether to ignore the query's parameters
    :raises vobjects.microversions.errors.ValidationError: the call is
        malformed
    """
    params: dict[str, str] = {}
    for name, value in pairs:
        if name in params:
            raise errors.ValidationError(
                phrases.format_path('query', [name]), 'is given more than once'
            )
        params[name] = value
    format_ = params.pop(_FORMAT, None)
    if format_ is None:
        raise errors.ValidationError(
            f'query.{_FORMAT}',
            'V query parameter is required in webhook trigger URL',
        )
    if format_ not in _FORMATS:
        raise errors.ValidationError(
            f'query.{_FORMAT}',
            f'must be one of {", ".join(_FORMATS)}, not'
            f' {exceptions.cut(format_)}',
        )
    body = {} if content is request_body.NO_BODY else dict(content)
    if only_body:
        return {'params': {}, 'body': body}
    if format_ == '1':
        body_params = body.get('params')
        if body_params is None:
            body_params = {}
        if not isinstance(body_params, dict):
            raise errors.ValidationError(
                'body.params', 'must be a JSON object'
            )
        return {'params': {**params, **body_params}, 'body': {}}
    return {'params': params, 'body': body}
