# SPDX-License-Identifier: Apache-2.0
"""The path, query and body of a request: read, and bounded.

WSGI text is bytes in disguise (PEP 3333): each character stands for one byte.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any

from api import errors
from vobjects import exceptions
from vobjects.microversions import body
from vobjects.microversions import errors as input_errors
from vobjects.microversions.policy import ROUTE

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

#: Characters of a name or an ID in a path, and of any text that is stored in
#: a column of its own.
MAX_TEXT = 255

#: What a request without a body has instead of a JSON value.
NO_BODY = object()

#: Bytes of a body nobody wanted that are read nevertheless.
MAX_DRAINED = 1 << 24

_CHUNK = 1 << 16

#: Where the environ has the number of bytes read of the body.
_READ = 'api.body_bytes_read'


def path(environ: WSGIEnvironment) -> str:
    """Return the decoded path.

    :raises api.errors.MalformedPath: it is not UTF-8
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


def only_read(environ: WSGIEnvironment, page: str) -> None:
    """Note which page is asked for, and refuse all but reading it.

    :param page: its path
    :raises api.errors.MethodNotAllowed: a method that is not GET or HEAD
    """
    environ[ROUTE] = page
    method = environ['REQUEST_METHOD']
    if method not in ('GET', 'HEAD'):
        raise errors.MethodNotAllowed(method, page, 'GET, HEAD')


def check_identity(name: str, text: str) -> None:
    """Refuse what cannot be the name or ID of anything.

    :param name: of the path's part, for people
    :raises api.errors.MalformedPath: too long, or with control characters
    """
    if len(text) > MAX_TEXT:
        raise errors.MalformedPath(
            f'path.{name}: must have at most {MAX_TEXT} characters, not'
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


def json_body(environ: WSGIEnvironment, max_bytes: int) -> Any:
    """Return the body as a JSON value, or :data:`NO_BODY`.

    :raises vobjects.microversions.errors.BodyTooLarge: more bytes
    :raises api.errors.UnsupportedMediaType: it says it is not JSON
    :raises vobjects.microversions.errors.MalformedBody: it is not JSON
    """
    raw = _read(environ, max_bytes)
    if not raw:
        return NO_BODY
    _check_media_type(environ.get('CONTENT_TYPE') or '')
    return body.load_json(raw, max_bytes=max_bytes)


def drain(environ: WSGIEnvironment) -> None:
    """Read what is left of the body.

    A server that answers while a body is still on its way has to close the
    connection; the client then finds a broken pipe where the answer was.

    :raises OSError: the client has gone
    """
    try:
        length = _length(environ)
    except input_errors.ApiError:
        return  # nobody knows where it ends
    whole = MAX_DRAINED if length is None else length
    if whole <= MAX_DRAINED:
        _read_up_to(environ, whole - environ.get(_READ, 0), keep=False)


def _check_media_type(header: str) -> None:
    media_type = header.partition(';')[0].strip().lower()
    if not media_type:
        return
    kind, _, subtype = media_type.partition('/')
    if kind == 'application' and (
        subtype == 'json' or subtype.endswith('+json')
    ):
        return
    raise errors.UnsupportedMediaType(
        f'The body is {exceptions.cut(media_type)}; send JSON and say so:'
        ' Content-Type: application/json.'
    )


def _read(environ: WSGIEnvironment, max_bytes: int) -> bytes:
    length = _length(environ)
    if length is None:
        # Chunked: the server ends the input where the last chunk ends.
        return _read_up_to(environ, max_bytes + 1)
    if length > max_bytes:
        raise input_errors.BodyTooLarge(
            f'The request body has {length} bytes; {max_bytes} are read.'
        )
    raw = _read_up_to(environ, length)
    if len(raw) < length:
        raise input_errors.MalformedBody(
            f'The request body ended after {len(raw)} of {length} bytes.'
        )
    return raw


def _length(environ: WSGIEnvironment) -> int | None:
    """Return the length of the body; None when only its end will tell."""
    if environ.get('HTTP_TRANSFER_ENCODING'):
        if not environ.get('wsgi.input_terminated'):
            raise errors.LengthRequired(
                'This server reads no chunked bodies; send Content-Length.'
            )
        return None
    text = environ.get('CONTENT_LENGTH') or '0'
    if not (text.isascii() and text.isdecimal()):
        raise input_errors.MalformedBody(
            f'Content-Length {exceptions.cut(text)} is not a number.'
        )
    return int(text[:20])


def _read_up_to(
    environ: WSGIEnvironment, count: int, *, keep: bool = True
) -> bytes:
    # Sized reads only: after one, granian's read() without a size returns
    # nothing, whatever is left.
    source = environ['wsgi.input']
    parts: list[bytes] = []
    while count > 0:
        part = source.read(min(count, _CHUNK))
        if not part:
            break
        if keep:
            parts.append(part)
        count -= len(part)
        environ[_READ] = environ.get(_READ, 0) + len(part)
    return b''.join(parts)
