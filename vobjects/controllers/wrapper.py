# SPDX-License-Identifier: Apache-2.0
"""Attach declarations to controller methods, and enforce them when called.

The first decorator wraps the method once; further ones only add to its
:class:`~vobjects.controllers.method_spec.MethodSpec`.

The request is the first argument, after ``self`` for a method. The decorators
validate the argument ``body``. A method with an argument ``query`` receives
the query string as a dictionary. Methods may be coroutine functions.
"""

from __future__ import annotations

import functools
import inspect
import logging
import sys
from collections.abc import Callable, Mapping
from typing import Any

from vobjects import exceptions
from vobjects.controllers.frameworks import environ_of, version_of
from vobjects.controllers.method_spec import ATTRIBUTE, MethodSpec, spec_of
from vobjects.controllers.ranges import RangeEntry, RangeMap, bound
from vobjects.microversions import application_errors, errors, query
from vobjects.versions import Version

LOG = logging.getLogger(__name__)

Function = Callable[..., Any]
Decorator = Callable[[Function], Function]

#: WSGI environ key: if true, validate responses against their schemas. For
#: tests.
CHECK_RESPONSES = 'vobjects.check_answers'

#: Statuses that need no declaration: authentication may fail for any method.
ALWAYS_EXPECTED = frozenset((401, 403))


def declare(
    kind: str,
    value: Any,
    min_version: str | Version | None,
    max_version: str | Version | None,
    wrapper_class: type[MethodWrapper] | None = None,
) -> Decorator:
    """Return a decorator that adds a declaration to a method.

    :param kind: attribute of
        :class:`~vobjects.controllers.method_spec.MethodSpec`
    :param value: the declaration
    :param min_version: first version; None: no lower limit
    :param max_version: last version; None: no upper limit
    :param wrapper_class: see :func:`wrap`
    :raises vobjects.exceptions.InvalidVersion: a bound is not a version
    """
    first, last = bound(min_version), bound(max_version)
    frame = sys._getframe(2)  # the caller of the public decorator
    location = f'{frame.f_code.co_filename}:{frame.f_lineno}'

    def decorate(function: Function) -> Function:
        wrapped = wrap(function, wrapper_class)
        declarations: RangeMap[Any] = getattr(spec_of(wrapped), kind)
        declarations.add(RangeEntry(value, first, last, location))
        return wrapped

    return decorate


def wrap(
    function: Function, wrapper_class: type[MethodWrapper] | None = None
) -> Function:
    """Return a method that enforces its declarations.

    :param wrapper_class: class that checks the calls, for a service that has
        its own errors or validation; None: :class:`MethodWrapper`
    :raises vobjects.exceptions.DeclarationError: ``api_version`` is below
    """
    if hasattr(function, ATTRIBUTE):
        return function
    if hasattr(function, 'api_version'):
        raise exceptions.DeclarationError(
            f'{function.__qualname__}: write api_version above the decorators'
            ' that declare schemas, statuses and removal'
        )
    wrapper = (wrapper_class or MethodWrapper)(function)
    call: Function
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def call(*arguments: Any, **named: Any) -> Any:
            version, environ = wrapper.check_request(arguments, named)
            try:
                response = await function(*arguments, **named)
            except Exception as error:
                wrapper.check_error(version, error)
                raise
            wrapper.check_response(version, environ, response)
            return response

    else:

        @functools.wraps(function)
        def call(*arguments: Any, **named: Any) -> Any:
            version, environ = wrapper.check_request(arguments, named)
            try:
                response = function(*arguments, **named)
            except Exception as error:
                wrapper.check_error(version, error)
                raise
            wrapper.check_response(version, environ, response)
            return response

    setattr(call, ATTRIBUTE, wrapper.spec)
    return call


class MethodWrapper:
    """Checks the calls of one method.

    Override the methods for a service that has its own errors or validation,
    and pass the class to :func:`declare`.

    :param function: the method
    :param spec: its declarations; None: an empty one
    :ivar spec: its declarations
    """

    def __init__(
        self, function: Function, spec: MethodSpec | None = None
    ) -> None:
        self._function = function
        self.spec = spec or MethodSpec()
        parameters = list(inspect.signature(function).parameters)
        self._request_at = int(parameters[:1] in (['self'], ['cls']))
        self._request_name = (parameters[self._request_at :] or [''])[0]
        self._takes_query = 'query' in parameters
        self._body_at = (
            parameters.index('body') if 'body' in parameters else None
        )

    def request_of(
        self, arguments: tuple[Any, ...], named: Mapping[str, Any]
    ) -> Any:
        """Return the request among the arguments of a call."""
        if self._request_at < len(arguments):
            return arguments[self._request_at]
        return named[self._request_name]

    def check_request(
        self, arguments: tuple[Any, ...], named: dict[str, Any]
    ) -> tuple[Version, Mapping[str, Any]]:
        """Validate a request before the method is called.

        :param named: the named arguments; receives ``query``
        :returns: the version of the request, and its environ
        :raises vobjects.microversions.errors.ValidationError: the body or the
            query is invalid
        :raises vobjects.microversions.errors.MethodRemoved: the version no
            longer has the method
        """
        spec = self.spec
        request = self.request_of(arguments, named)
        version = version_of(request)
        if spec.removal is not None and version >= spec.removal.version:
            raise spec.removal.error(self._function.__name__)
        environ: Mapping[str, Any] = environ_of(request)
        if spec.request_schemas:
            self._check_body(version, arguments, named)
        if spec.query_schemas:
            values = self._parse_query(version, environ)
            if self._takes_query:
                named['query'] = values
        return version, environ

    def check_error(self, version: Version, error: Exception) -> None:
        """Reject an error that the method raised but does not declare.

        :raises vobjects.microversions.application_errors.UnexpectedError: see
            above
        """
        statuses = self.spec.error_statuses
        if not statuses:
            return
        expected = statuses.at(version) or frozenset()
        if not _is_expected(application_errors.ungroup(error), expected):
            LOG.error('A method raised an undeclared error', exc_info=True)
            raise application_errors.UnexpectedError from error

    def check_response(
        self, version: Version, environ: Mapping[str, Any], response: Any
    ) -> None:
        """Check a response if the environ says so.

        :raises vobjects.exceptions.VobjectsError: it does not match its schema
        """
        if not self.spec.response_schemas or not environ.get(CHECK_RESPONSES):
            return
        schema = self.spec.response_schemas.at(version)
        fault = None if schema is None else schema.fault(response)
        if fault:
            raise exceptions.VobjectsError(
                f'{self._function.__qualname__}: the response at {version}'
                f' does not match its response schema: {fault}'
            )

    def _check_body(
        self,
        version: Version,
        arguments: tuple[Any, ...],
        named: Mapping[str, Any],
    ) -> None:
        if 'body' in named:
            body = named['body']
        elif self._body_at is not None and self._body_at < len(arguments):
            body = arguments[self._body_at]
        else:
            body = None
        schemas = self.spec.request_schemas
        schema = schemas.at(version)
        if schema is not None:
            schema.check(body, 'body', version, schemas)

    def _parse_query(
        self, version: Version, environ: Mapping[str, Any]
    ) -> dict[str, Any]:
        schemas = self.spec.query_schemas
        schema = schemas.at(version)
        text = environ.get('QUERY_STRING') or ''
        pairs = query.parse_pairs(text) if text else []
        if schema is None:
            return {}
        values = schema.parse_query(pairs)
        schema.check(values, 'query', version, schemas)
        return values


def _is_expected(error: Exception, statuses: frozenset[int]) -> bool:
    """Return whether a method may raise an error."""
    return (
        isinstance(error, (errors.InputError, errors.NegotiationError))
        or application_errors.is_about_servers(error)
        or _status_of(error) in statuses | ALWAYS_EXPECTED
    )


def _status_of(error: Exception) -> int:
    for name in ('status_int', 'status_code', 'status', 'code'):
        status: Any = getattr(error, name, None)
        if isinstance(status, int):
            return status
        if isinstance(status, str) and status[:3].isdecimal():
            return int(status[:3])  # '404 Not Found'
    return 500
