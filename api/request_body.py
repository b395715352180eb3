# SPDX-License-Identifier: Apache-2.0
"""Read the path, query and body of a request, within size limits.

In WSGI strings, each character stands for one byte (PEP 3333).
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any

from api import browsers, errors
from vobjects import exceptions
from vobjects.clustering import consts
from vobjects.microversions import errors as input_errors
from vobjects.microversions import json_body
from vobjects.microversions.version_policy import ROUTE

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

#: Stands for the JSON value of a request without a body.
NO_BODY = object()

#: Further media types under which Senlin's clients send JSON.
_TEXT_TYPES = ('json', 'text/plain')

_CHUNK = 1 << 16

#: Key in the environ for the number of body bytes read.
BYTES_READ = 'api.body_bytes_read'


def decoded_path(environ: WSGIEnvironment) -> str:
    """Return the decoded path.

    :raises api.errors.MalformedPath: the path is not UTF-8
    """
    raw: str = environ.get('PATH_INFO', '')
    if raw.isascii():
        return raw
    try:
        return raw.encode('latin-1').decode('utf-8')
    except UnicodeError:
        raise errors.MalformedPath(
            f'The path {exceptions.cut(raw)} is not percent-encoded UTF-8.'
        ) from None


def require_read(environ: WSGIEnvironment, page: str) -> None:
    """Record the page in the environ, and reject methods other than reads.

    :param page: path of the page
    :raises api.errors.MethodNotAllowed: the method is neither GET nor HEAD
    """
    environ[ROUTE] = page
    method = environ['REQUEST_METHOD']
    if method not in ('GET', 'HEAD'):
        raise errors.MethodNotAllowed(method, page, 'GET, HEAD')


def check_identity(name: str, text: str) -> None:
    """Reject text that cannot be the name or ID of a resource.

    :param name: name of the path segment, for the message
    :raises api.errors.MalformedPath: too long, or with control characters
    """
    if len(text) > consts.MAX_TEXT:
        raise errors.MalformedPath(
            f'path.{name}: must have at most {consts.MAX_TEXT} characters, not'
            f' {len(text)}.'
        )
    if text.isprintable():
        return
    for character in text:
        if unicodedata.category(character) == 'Cc':
            raise errors.MalformedPath(
                f'path.{name}: has the control character'
                f' U+{ord(character):04X}.'
            )


def read_json(
    environ: WSGIEnvironment,
    max_bytes: int,
    *,
    strict: bool = True,
    only_object: bool = False,
) -> Any:
    """Return the body as a JSON value, or :data:`NO_BODY`.

    :param strict: whether to reject JSON with the media type of text
    :param only_object: whether to ignore a body that is not a JSON object
    :raises vobjects.microversions.errors.BodyTooLarge: more than ``max_bytes``
    :raises api.errors.UnsupportedMediaType: Content-Type is not JSON
    :raises vobjects.microversions.errors.MalformedBody: it is not valid JSON
    """
    raw = _read(environ, max_bytes)
    if not raw:
        return NO_BODY
    if only_object and not raw.lstrip().startswith(b'{'):
        return NO_BODY
    _check_media_type(environ, strict=strict)
    return json_body.load_json(raw, max_bytes=max_bytes)


def _check_media_type(environ: WSGIEnvironment, *, strict: bool) -> None:
    """Reject a body whose Content-Type is not JSON.

    A body without Content-Type counts as JSON, and so does text unless
    ``strict`` is set. Browsers must always send a JSON type: that makes them
    send a preflight request (CORS) for a page of another origin.
    """
    header: str = environ.get('CONTENT_TYPE') or ''
    media_type = header.partition(';')[0].strip().lower()
    if not media_type or (not strict and media_type in _TEXT_TYPES):
        if not browsers.is_from_page(environ):
            return
        media_type = media_type or 'missing'
    kind, _, subtype = media_type.partition('/')
    if kind == 'application' and (
        subtype == 'json' or subtype.endswith('+json')
    ):
        return
    raise errors.UnsupportedMediaType(
        f'Content-Type is {exceptions.cut(media_type)}; send JSON with'
        ' Content-Type: application/json.'
    )


def _read(environ: WSGIEnvironment, max_bytes: int) -> bytes:
    length = _length(environ)
    if length is None:
        # Chunked: the server ends the input where the last chunk ends.
        return _read_up_to(environ, max_bytes + 1)
    if length > max_bytes:
        raise input_errors.BodyTooLarge(
            f'The request body has {length} bytes; at most {max_bytes} are'
            ' accepted.'
        )
    raw = _read_up_to(environ, length)
    if len(raw) < length:
        raise input_errors.MalformedBody(
            f'The request body ended after {len(raw)} of {length} bytes.'
        )
    return raw


def _length(environ: WSGIEnvironment) -> int | None:
    """Return the length of the body; None for a chunked body."""
    if environ.get('HTTP_TRANSFER_ENCODING'):
        if not environ.get('wsgi.input_terminated'):
            raise errors.LengthRequired(
                'This server does not accept chunked bodies; send'
                ' Content-Length.'
            )
        if environ['HTTP_TRANSFER_ENCODING'].strip().lower() != 'chunked':
            raise input_errors.MalformedBody(
                'Transfer-Encoding must be chunked, with no other coding.'
            )
        return None
    text = environ.get('CONTENT_LENGTH') or '0'
    if not (text.isascii() and text.isdecimal()):
        raise input_errors.MalformedBody(
            f'Content-Length must be a number, not {exceptions.cut(text)}.'
        )
    return int(text[:20])


def _read_up_to(environ: WSGIEnvironment, count: int) -> bytes:
    source = environ['wsgi.input']
    parts: list[bytes] = []
    while count > 0:
        part = source.read(min(count, _CHUNK))
        if not part:
            break
        parts.append(part)
        count -= len(part)
        environ[BYTES_READ] = environ.get(BYTES_READ, 0) + len(part)
    return b''.join(parts)
