# SPDX-License-Identifier: Apache-2.0
"""HTTP basic authentication against a file of bcrypt hashes.

``htpasswd -B`` writes the file; oslo.middleware reads it. Users are members of
``[api] default_project``, unless ``http_basic_projects`` and
``http_basic_admins`` say otherwise.

Checking a bcrypt hash takes a tenth of a second by design. A successful check
is therefore cached for :data:`CACHE_SECONDS` seconds, unless the file changes;
each use renews it. Password checks may use only a part of the processors and
threads, and one address only a part of that, so that guessing does not block
other callers.
"""

from __future__ import annotations

import collections
import contextlib
import hashlib
import logging
import os
import pathlib
import secrets
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import bcrypt
import webob.exc
from oslo_config import cfg
from oslo_middleware import basic_auth

from api import errors, middleware
from api.check_limiter import CheckLimiter
from vobjects import exceptions
from vobjects.cli import special_files
from vobjects.clustering.context import RequestContext

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

LOG = logging.getLogger(__name__)

GROUP = 'oslo_middleware'

#: Lifetime in seconds and size of the cache of successful checks.
CACHE_SECONDS = 3600.0
CACHE_SIZE = 1024

#: Alphabet of bcrypt, and length of the digest in its hashes.
_BCRYPT_ALPHABET = (
    './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
)
_BCRYPT_DIGEST_LENGTH = 31

MEMBER = ('member', 'reader')
ADMIN = ('admin', *MEMBER)

#: Challenge sent to callers that did not authenticate.
CHALLENGE = 'Basic realm="clustering", charset="UTF-8"'

_HEADER = 'HTTP_AUTHORIZATION'


class InvalidUserFile(exceptions.VobjectsError):
    """The user file cannot be used."""


class Authenticator:
    """Authenticate requests by name and password.

    :param conf: with ``[oslo_middleware] http_basic_auth_user_file``
    :param clock: returns monotonic seconds
    :raises InvalidUserFile: see :func:`check`
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        check(conf)
        self._file = pathlib.Path(conf[GROUP].http_basic_auth_user_file)
        self._admins = frozenset(conf.api.http_basic_admins)
        self._projects = dict(conf.api.http_basic_projects)
        self._default_project = conf.api.default_project
        self._clock = clock
        self._key = secrets.token_bytes(32)
        self._cache: collections.OrderedDict[bytes, tuple[str, float, int]]
        self._cache = collections.OrderedDict()
        self._limiter = CheckLimiter(conf.api.threads)

    def __call__(self, environ: WSGIEnvironment) -> RequestContext:
        """Authenticate the caller and return the request context.

        :raises api.errors.Unauthenticated: name or password is wrong
        :raises api.errors.TooManyChecks: too many checks are already waiting
        :raises OSError: the file cannot be read
        """
        header = environ.get(_HEADER, '')
        user = self._cached_user(header) or self._check_password(
            header, environ.get('REMOTE_ADDR', '')
        )
        return RequestContext(
            user_id=user,
            user_name=user,
            project_id=self._projects.get(user, self._default_project),
            roles=list(ADMIN if user in self._admins else MEMBER),
            request_id=environ.get(middleware.REQUEST_ID),
            global_request_id=environ.get(middleware.GLOBAL_REQUEST_ID),
        )

    def _cached_user(self, header: str) -> str | None:
        """Return the user of a header that was checked recently, or None."""
        user, until, mtime = self._cache.get(
            self._digest(header), ('', 0.0, 0)
        )
        if self._clock() < until and mtime == self._file_mtime():
            self._cache_user(header, user, mtime)
            return user
        return None

    def _check_password(self, header: str, address: str) -> str:
        mtime = self._file_mtime()
        try:
            token = basic_auth.parse_header({_HEADER: header})
            name, password = basic_auth.parse_token(token)
        except webob.exc.HTTPException:
            raise errors.Unauthenticated(CHALLENGE) from None
        with self._limiter.check(address):
            # Another request may have checked the same header meanwhile.
            if self._cached_user(
                header
            ) is None and not self._password_matches(name, password):
                raise errors.Unauthenticated(CHALLENGE)
        self._cache_user(header, name, mtime)
        return name

    def _password_matches(self, name: str, password: bytes) -> bool:
        """Check a password; compare unknown users to a hash that never fits.

        Both cases take the same time, so that callers cannot discover names.
        """
        hashes: dict[str, bytes] = {}
        for line in filter(_is_bcrypt, self._file.read_text().splitlines()):
            user, hashed = basic_auth.parse_entry(line.strip())
            hashes.setdefault(user, hashed)
        hashed = hashes.get(name) or _dummy_hash(hashes)
        # ValueError: bcrypt rejects NUL and more than 72 bytes.
        with contextlib.suppress(ValueError):
            return bcrypt.checkpw(password, hashed) and name in hashes
        return False

    def _cache_user(self, header: str, name: str, mtime: int) -> None:
        until = self._clock() + CACHE_SECONDS
        digest = self._digest(header)
        self._cache[digest] = (name, until, mtime)
        with contextlib.suppress(KeyError):  # another thread removed it
            self._cache.move_to_end(digest)
            while len(self._cache) > CACHE_SIZE:
                self._cache.popitem(last=False)

    def _digest(self, header: str) -> bytes:
        # Not the password itself: memory may end up in a core file.
        return hashlib.blake2b(header.encode(), key=self._key).digest()

    def _file_mtime(self) -> int:
        return os.stat(self._file).st_mtime_ns


def _dummy_hash(hashes: dict[str, bytes]) -> bytes:
    """Return a hash that matches no password and takes as long to check."""
    like = next(iter(hashes.values()), None) or bcrypt.gensalt()
    digest = ''.join(
        secrets.choice(_BCRYPT_ALPHABET) for _ in range(_BCRYPT_DIGEST_LENGTH)
    )
    return like[:29] + digest.encode()


def check(conf: cfg.ConfigOpts) -> None:
    """Reject a user file that is missing or has hashes other than bcrypt.

    :raises InvalidUserFile: names the option and the problem
    :raises vobjects.exceptions.VobjectsError: it is not a file
    """
    conf.register_opts(basic_auth.OPTS, group=GROUP)
    special_files.check(conf)
    file = conf[GROUP].http_basic_auth_user_file
    option = f'[{GROUP}] http_basic_auth_user_file = {file}'
    try:
        text = pathlib.Path(file).read_text()
    except (OSError, UnicodeError) as error:
        reason = getattr(error, 'strerror', None) or 'not text'
        raise InvalidUserFile(f'{option}: {reason}') from None
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not _is_bcrypt(line):
            raise InvalidUserFile(
                f'{option}: line {number} must be NAME:HASH with a bcrypt'
                ' hash; "htpasswd -B" writes such lines'
            )


def _is_bcrypt(line: str) -> bool:
    name, _, hashed = line.strip().partition(':')
    return bool(name) and hashed[:4] in ('$2y$', '$2a$', '$2b$')
