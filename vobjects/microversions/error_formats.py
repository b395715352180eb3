# SPDX-License-Identifier: Apache-2.0
"""Error bodies in the formats of several services.

Every body has ``errors``, a list with the one item that the API-SIG errors
guideline describes; keystoneauth reads it. Next to it are the properties that
the service's own clients read, with the same text. A policy names one of these
functions.

novaclient takes the first key of a body for the error, so in Nova's format
``errors`` comes last.
"""

from __future__ import annotations

import http
import json
from collections.abc import Callable
from typing import Any, NamedTuple

_PHRASES = {int(status): status.phrase for status in http.HTTPStatus}


class ErrorInfo(NamedTuple):
    """The content of an error body, before it is formatted.

    :ivar item: error item of the guideline: code, status, title, detail,
        links...
    :ivar type_name: name of the exception in Senlin
    :ivar message: Senlin's wording of the detail
    """

    item: dict[str, Any]
    type_name: str
    message: str


ErrorFormat = Callable[[ErrorInfo], dict[str, Any]]


def status_phrase(status: int) -> str:
    """Return the reason phrase of a status, such as ``Not Found``.

    Frameworks accept any status, for example 419, so each has a phrase.
    """
    return _PHRASES.get(status, f'Status {status}')


def status_line(status: int) -> str:
    """Return a status as WSGI writes it, such as ``404 Not Found``."""
    return f'{status:d} {status_phrase(status)}'


def api_sig(error: ErrorInfo) -> dict[str, Any]:
    """Return the guideline's body without further properties."""
    return {'errors': [error.item]}


def senlin(error: ErrorInfo) -> dict[str, Any]:
    """Return ``error`` with code, message and type, as Senlin's fault.py does.

    The title is the phrase of the status, as in WebOb. python-senlinclient and
    openstacksdk print ``error.message``.
    """
    item = error.item
    return {
        'errors': [item],
        'code': item['status'],
        'title': status_phrase(item['status']),
        'explanation': item['detail'],
        'error': {
            'code': item['status'],
            'message': error.message,
            'type': error.type_name,
        },
    }


#: Status -> key of a fault in Nova's bodies; for other statuses computeFault.
_NOVA_FAULTS = {
    400: 'badRequest',
    401: 'unauthorized',
    403: 'forbidden',
    404: 'itemNotFound',
    405: 'badMethod',
    409: 'conflictingRequest',
    413: 'overLimit',
    415: 'badMediaType',
    429: 'overLimit',
    501: 'notImplemented',
    503: 'serviceUnavailable',
}


def nova(error: ErrorInfo) -> dict[str, Any]:
    """Return a fault named after the status, with code and message."""
    item = error.item
    fault = _NOVA_FAULTS.get(item['status'], 'computeFault')
    return {
        fault: {'code': item['status'], 'message': item['detail']},
        'errors': [item],
    }


def magnum(error: ErrorInfo) -> dict[str, Any]:
    """Return the item with ``description``, Magnum's name for the detail."""
    item = error.item
    return {'errors': [{**item, 'description': item['detail']}]}


def barbican(error: ErrorInfo) -> dict[str, Any]:
    """Return message, code and title in the form that WebOb writes."""
    item = error.item
    return {
        'message': item['detail'],
        'code': status_line(item['status']),
        'title': item['title'],
        'errors': [item],
    }


def ironic(error: ErrorInfo) -> dict[str, Any]:
    """Return ``error_message``, which contains JSON as a string.

    openstacksdk and python-ironicclient read its ``faultstring``.
    """
    item = error.item
    return {
        'error_message': json.dumps(
            {
                'faultcode': 'Client' if item['status'] < 500 else 'Server',
                'faultstring': item['detail'],
                'debuginfo': None,
                'code': item['status'],
                'title': item['title'],
                'description': item['detail'],
            }
        ),
        'errors': [item],
    }
