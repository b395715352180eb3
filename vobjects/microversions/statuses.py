# SPDX-License-Identifier: Apache-2.0
"""HTTP statuses and their texts.

Frameworks accept any status, for example 419, so a text exists for each.
"""

from __future__ import annotations

import http

_ERRORS = range(400, 600)

_REGISTERED = {int(status): status for status in http.HTTPStatus}


def is_error(status: int | None) -> bool:
    """Return whether a number is the status of an error: from 400 to 599."""
    return status in _ERRORS


def phrase(status: int) -> str:
    """Return the reason phrase of a status, such as ``Not Found``."""
    known = _REGISTERED.get(status)
    return known.phrase if known else f'Status {status}'


def line(status: int) -> str:
    """Return a status as WSGI writes it, such as ``404 Not Found``."""
    return f'{status:d} {phrase(status)}'


def description(status: int) -> str:
    """Return a sentence about a status, without a full stop."""
    known = _REGISTERED.get(status)
    text = known.description if known else ''
    return text.rstrip('.') or phrase(status)
