# SPDX-License-Identifier: Apache-2.0
"""A client that calls the application in this process.

Every response it sees is checked for what every response must have.
"""

from __future__ import annotations

import dataclasses
import io
import json
import re
import urllib.parse
from typing import Any
from wsgiref import util, validate

from api.contract import contract
from vobjects.testing import api_sig
from vobjects.testing.contract_checks import ContractChecker

#: What the requests have in the header Host.
HOST = 'api.example.org'

VERSION_HEADER = re.compile(r'clustering [1-9]\d*\.\d+')
REQUEST_ID = re.compile(r'req-[0-9a-f-]{36}')

PROMISES = ContractChecker(contract())


@dataclasses.dataclass
class Answer:
    """A response."""

    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.content)

    @property
    def detail(self) -> str:
        """What an error document says of this occurrence."""
        detail: str = self.json['errors'][0]['detail']
        return detail

    @property
    def code(self) -> str:
        code: str = self.json['errors'][0]['code']
        return code

    @property
    def version(self) -> str:
        return self.headers['openstack-api-version']


class Api:
    """Calls a WSGI application.

    :param app: the application
    """

    def __init__(self, app: Any) -> None:
        self._plain = app
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
    ) -> Answer:
        """Send a request.

        :param body: sent as JSON
        :param version: of the clustering service; empty: no header
        :param raw: sent as it is, instead of a body
        :param headers: besides
        :param environ: WSGI variables, over those that follow from the rest
        """
        content = raw
        sent = dict(headers or {})
        if content is None and body is not None:
            content = json.dumps(body).encode()
            sent.setdefault('Content-Type', 'application/json')
        if version:
            sent['OpenStack-API-Version'] = f'clustering {version}'
        answer = _call(
            self._linted,
            _environ(method, path, content or b'', sent) | (environ or {}),
        )
        check(answer, method)
        if answer.status != 500:  # nobody promises what tests provoke
            PROMISES.check(
                method,
                urllib.parse.unquote(path.partition('?')[0]),
                answer.version.removeprefix('clustering '),
                answer.status,
                answer.json if answer.content else None,
            )
        return answer

    def bare(self, method: str, path: str, environ: dict[str, Any]) -> Answer:
        """Send what wsgiref's lint would take for a server's fault."""
        answer = _call(self._plain, _environ(method, path, b'', {}) | environ)
        check(answer, method)
        return answer


def _call(app: Any, environ: dict[str, Any]) -> Answer:
    got: list[Any] = []

    def start_response(
        status: str, headers: list[tuple[str, str]], exc_info: Any = None
    ) -> Any:
        got[:] = [status, headers]
        return lambda data: None

    parts = app(environ, start_response)
    try:
        content = b''.join(parts)
    finally:
        if hasattr(parts, 'close'):
            parts.close()
    status, headers = got
    lower = [(name.lower(), value) for name, value in headers]
    assert len(dict(lower)) == len(lower), f'a header twice: {lower}'
    return Answer(int(status.split()[0]), dict(lower), content)


def check(answer: Answer, method: str = 'GET') -> None:
    """Assert what holds for every response."""
    assert VERSION_HEADER.fullmatch(answer.version)
    vary = [name.strip() for name in answer.headers['vary'].split(',')]
    assert 'OpenStack-API-Version' in vary
    assert REQUEST_ID.fullmatch(answer.headers['x-openstack-request-id'])
    if answer.content:
        assert answer.headers['content-type'] == 'application/json'
        assert answer.headers['content-length'] == str(len(answer.content))
        json.loads(answer.content)
    if answer.status >= 400 and method != 'HEAD':
        document = answer.json
        api_sig.assert_error_document(document, answer.status, answer.headers)
        assert 'request_id' in document['errors'][0]
        assert 'Traceback' not in answer.content.decode()


def _environ(
    method: str, path: str, content: bytes, headers: dict[str, str]
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
