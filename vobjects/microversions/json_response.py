# SPDX-License-Identifier: Apache-2.0
"""Send JSON responses from WSGI middleware: errors and discovery."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from vobjects.microversions import statuses

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment


def send_json(
    environ: WSGIEnvironment,
    start_response: StartResponse,
    status: int,
    document: Any,
    headers: Iterable[tuple[str, str]] = (),
    exc_info: Any = None,
) -> Iterable[bytes]:
    """Send a JSON document; without content for HEAD.

    :param headers: further headers of the response
    :param exc_info: see PEP 3333; required if a response was started before
    """
    body = json.dumps(document).encode()
    start_response(
        statuses.line(status),
        [
            ('Content-Type', 'application/json'),
            ('Content-Length', str(len(body))),
            *headers,
        ],
        exc_info,
    )
    return [] if environ.get('REQUEST_METHOD') == 'HEAD' else [body]
