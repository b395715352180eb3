# SPDX-License-Identifier: Apache-2.0
"""A client that calls the WSGI application in this process.

:class:`ApiClient` checks every response; :func:`call` does not.
"""

from __future__ import annotations

import dataclasses
import io
import json
import re
import urllib.parse
from collections.abc import Mapping
from typing import Any
from wsgiref import util, validate

from api.contract import contract
from tests import api_sig
from vobjects_testing.contract_checks import ContractChecker

#: Value of the header Host.
HOST = 'api.example.org'

VERSION_HEADER = re.compile(r'clustering [1-9]\d*\.\d+')
REQUEST_ID = re.compile(r'req-[0-9a-f-]{36}')

CONTRACT_CHECKER = ContractChecker(contract())


@dataclasses.dataclass
class Response:
    """A response."""

    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.content)

    @property
    def detail(self) -> str:
        """The detail of an error document."""
        detail: str = self.json['errors'][0]['detail']
        return detail

    @property
    def code(self) -> str:
        code: str = self.json['errors'][0]['code']
        return code

    @property
    def version(self) -> str:
        return self.headers['openstack-api-version']


class ApiClient:
    """Calls a WSGI application.

    :param app: the application
    """

    def __init__(self, app: Any) -> None:
        self._app = app
        self._linted = validate.validator(app)

    def __call__(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        version: str = '',
        raw: bytes | None = None,
        headers: dict[str, str] | None = None,
        environ: dict[str, Any] | None = None,
    ) -> Response:
        """Send a request.

        :param body: sent as JSON
        :param version: of the clustering service; empty: no header
        :param raw: sent unchanged, instead of ``body``
        :param headers: further headers
        :param environ: overrides variables of the WSGI environment
        """
        content = raw
        sent = dict(headers or {})
        if content is None and body is not None:
            content = json.dumps(body).encode()
            sent.setdefault('Content-Type', 'application/json')
        if version:
            sent['OpenStack-API-Version'] = f'clustering {version}'
        response = call(
            self._linted,
            method,
            path,
            content or b'',
            sent,
            **(environ or {}),
        )
        check_response(response, method)
        if response.status != 500:  # bugs are not part of the contract
            CONTRACT_CHECKER.check(
                method,
                urllib.parse.unquote(path.partition('?')[0]),
                response.version.removeprefix('clustering '),
                response.status,
                response.json if response.content else None,
            )
        return response

    def unlinted(
        self, method: str, path: str, environ: dict[str, Any]
    ) -> Response:
        """Send a request that wsgiref's lint rejects."""
        response = call(self._app, method, path, **environ)
        check_response(response, method)
        return response


def call(
    app: Any,
    method: str,
    path: str,
    content: bytes = b'',
    headers: Mapping[str, str] | None = None,
    **environ: Any,
) -> Response:
    """Call a WSGI application without checking its response.

    :param environ: overrides variables of the WSGI environment
    """
    started: list[Any] = []

    def start_response(
        status: str, headers: list[tuple[str, str]], exc_info: Any = None
    ) -> Any:
        started[:] = [status, headers]
        return lambda data: None

    sent = _environ(method, path, content, headers or {}) | environ
    parts = app(sent, start_response)
    try:
        content = b''.join(parts)
    finally:
        if hasattr(parts, 'close'):
            parts.close()
    status, response_headers = started
    lower = [(name.lower(), value) for name, value in response_headers]
    assert len(dict(lower)) == len(lower), f'repeated header: {lower}'
    return Response(int(status.split()[0]), dict(lower), content)


def check_response(response: Response, method: str = 'GET') -> None:
    """Check the properties that all responses share."""
    assert VERSION_HEADER.fullmatch(response.version)
    vary = [name.strip() for name in response.headers['vary'].split(',')]
    assert 'OpenStack-API-Version' in vary
    assert REQUEST_ID.fullmatch(response.headers['x-openstack-request-id'])
    if response.content:
        assert response.headers['content-type'] == 'application/json'
        assert response.headers['content-length'] == str(len(response.content))
        json.loads(response.content)
    if response.status >= 400 and method != 'HEAD':
        document = response.json
        api_sig.assert_error_document(
            document, response.status, response.headers
        )
        assert 'request_id' in document['errors'][0]
        assert 'Traceback' not in response.content.decode()


def _environ(
    method: str, path: str, content: bytes, headers: Mapping[str, str]
) -> dict[str, Any]:
    path, _, query = path.partition('?')
    environ: dict[str, Any] = {}
    util.setup_testing_defaults(environ)
    environ |= {
        'REQUEST_METHOD': method,
        'PATH_INFO': urllib.parse.unquote_to_bytes(path).decode('latin-1'),
        'QUERY_STRING': query,
        'HTTP_HOST': HOST,
        'wsgi.input': io.BytesIO(content),
    }
    if content:
        environ['CONTENT_LENGTH'] = str(len(content))
    for name, value in headers.items():
        key = name.upper().replace('-', '_')
        environ[key if key == 'CONTENT_TYPE' else f'HTTP_{key}'] = value
    return environ
