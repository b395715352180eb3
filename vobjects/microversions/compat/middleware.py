# SPDX-License-Identifier: Apache-2.0
"""The middleware of microversion-parse, without a web framework.

It takes a list of versions, which may have gaps and several major versions,
where :class:`~vobjects.microversions.middleware.Microversions` takes a policy.
Every response has the version and Vary. That includes errors that the
application raises as WSGI applications, such as the exceptions of WebOb and
Werkzeug.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from vobjects.microversions import compat, statuses
from vobjects.microversions.json_response import send_json

if TYPE_CHECKING:
    from _typeshed.wsgi import (
        StartResponse,
        WSGIApplication,
        WSGIEnvironment,
    )

#: Help link of the errors.
HELP_URL = (
    'https://specs.openstack.org/openstack/api-sig/guidelines/'
    'microversion_specification.html'
)

Formatter = Callable[..., Any]


class MicroversionMiddleware:
    """WSGI middleware that sets ``SERVICE_TYPE.microversion`` in the environ.

    :param application: the WSGI application
    :param service_type: name of the service in the header
    :param versions: every version served, oldest first
    :param json_error_formatter: function that returns the body of an error
        from ``body``, ``status``, ``title`` and ``environ``, like WebOb's
        formatters
    """

    def __init__(
        self,
        application: WSGIApplication,
        service_type: str,
        versions: Sequence[str],
        json_error_formatter: Formatter | None = None,
    ) -> None:
        self.application = application
        self.service_type = service_type
        self.microversion_environ = f'{service_type}.microversion'
        self.versions = versions
        self.json_error_formatter = json_error_formatter

    def __call__(
        self, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        response_version = self.versions[0]

        def start_versioned(
            status: str,
            headers: list[tuple[str, str]],
            exc_info: Any = None,
            /,
        ) -> Callable[[bytes], object]:
            name = compat.STANDARD_HEADER
            headers = [
                *headers,
                (name, f'{self.service_type} {response_version}'),
                ('vary', name),
            ]
            return start_response(status, headers, exc_info)

        try:
            version = compat.extract_version(
                compat.headers_from_wsgi_environ(environ),
                self.service_type,
                self.versions,
            )
        except ValueError as error:
            return self._reject(406, error, environ, start_versioned)
        except TypeError as error:
            return self._reject(400, error, environ, start_versioned)
        environ[self.microversion_environ] = version
        response_version = str(version)
        try:
            return self.application(environ, start_versioned)
        except Exception as error:
            if not callable(error):
                raise
            response: Iterable[bytes] = error(environ, start_versioned)
            return response

    def _reject(
        self,
        status: int,
        error: Exception,
        environ: WSGIEnvironment,
        start_response: StartResponse,
    ) -> Iterable[bytes]:
        detail = f'Invalid microversion: {error}'
        if self.json_error_formatter is None:
            document = self._document(status, detail)
        else:
            document = self.json_error_formatter(
                body=detail,
                status=statuses.line(status),
                title=statuses.phrase(status),
                environ=environ,
            )
        return send_json(environ, start_response, status, document)

    def _document(self, status: int, detail: str) -> dict[str, Any]:
        unsupported = status == HTTPStatus.NOT_ACCEPTABLE
        kind = 'unsupported' if unsupported else 'malformed'
        return {
            'errors': [
                {
                    'code': f'{self.service_type}.microversion-{kind}',
                    'status': status,
                    'title': f'Requested microversion is {kind}',
                    'detail': detail,
                    'min_version': self.versions[0],
                    'max_version': self.versions[-1],
                    'links': [{'rel': 'help', 'href': HELP_URL}],
                }
            ]
        }
