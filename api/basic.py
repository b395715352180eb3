# SPDX-License-Identifier: Apache-2.0
"""Callers with a name and a password: HTTP basic, from a file of hashes.

The file is one that ``htpasswd -B`` writes; oslo.middleware reads it. Users
are members of ``[api] default_project``, unless ``http_basic_projects`` and
``http_basic_admins`` say otherwise.

A bcrypt hash takes a tenth of a second to check, and is meant to. What was
right is right for :data:`REMEMBERED` seconds more, unless the file changes.
"""

from __future__ import annotations

import collections
import hashlib
import logging
import os
import pathlib
import secrets
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import webob.exc
from oslo_config import cfg
from oslo_middleware import basic_auth

from api import errors, middleware
from vobjects import exceptions
from vobjects.clustering.context import RequestContext

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

LOG = logging.getLogger(__name__)

GROUP = 'oslo_middleware'

#: Seconds, and how many.
REMEMBERED = 60.0
MAX_REMEMBERED = 1024

MEMBER = ('member', 'reader')
ADMIN = ('admin', *MEMBER)

#: Who may try, is told so.
CHALLENGE = 'Basic realm="clustering", charset="UTF-8"'

_HEADER = 'HTTP_AUTHORIZATION'


class BadUserFile(exceptions.VobjectsError):
    """The file of users cannot be used."""


class Authenticator:
    """Makes the context of a request with a name and a password.

    :param conf: with ``[oslo_middleware] http_basic_auth_user_file``
    :param clock: monotonic seconds
    :raises BadUserFile: see :func:`check`
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
        self._known: collections.OrderedDict[bytes, tuple[str, float, int]]
        self._known = collections.OrderedDict()

    def __call__(self, environ: WSGIEnvironment) -> RequestContext:
        """Return who asks.

        :raises api.errors.Unauthenticated: name or password are wrong
        :raises OSError: the file cannot be read
        """
        header = environ.get(_HEADER, '')
        user = self._recall(header) or self._check(header)
        return RequestContext(
            user_id=user,
            user_name=user,
            project_id=self._projects.get(user, self._default_project),
            roles=list(ADMIN if user in self._admins else MEMBER),
            request_id=environ.get(middleware.REQUEST_ID),
            global_request_id=environ.get(middleware.GLOBAL_REQUEST_ID),
        )

    def _recall(self, header: str) -> str | None:
        """Return whose header this is, if that was found out lately."""
        user, until, changed = self._known.get(
            self._digest(header), ('', 0.0, 0)
        )
        if self._clock() < until and changed == self._changed():
            return user
        return None

    def _check(self, header: str) -> str:
        changed = self._changed()
        try:
            token = basic_auth.parse_header({_HEADER: header})
            name, password = basic_auth.parse_token(token)
            basic_auth.authenticate(str(self._file), name, password)
        except (webob.exc.HTTPException, ValueError):
            # ValueError: bcrypt takes no NUL, and no more than 72 bytes.
            raise errors.Unauthenticated(CHALLENGE) from None
        until = self._clock() + REMEMBERED
        self._known[self._digest(header)] = (name, until, changed)
        while len(self._known) > MAX_REMEMBERED:
            self._known.popitem(last=False)
        return name

    def _digest(self, header: str) -> bytes:
        # Not the password itself: memory may end up in a core file.
        return hashlib.blake2b(header.encode(), key=self._key).digest()

    def _changed(self) -> int:
        return os.stat(self._file).st_mtime_ns


def check(conf: cfg.ConfigOpts) -> None:
    """Refuse a file that is not there, or has other hashes than bcrypt's.

    :raises BadUserFile: naming the option and what is wrong
    """
    conf.register_opts(basic_auth.OPTS, group=GROUP)
    file = conf[GROUP].http_basic_auth_user_file
    named = f'[{GROUP}] http_basic_auth_user_file = {file}'
    try:
        text = pathlib.Path(file).read_text()
    except (OSError, UnicodeError) as error:
        reason = getattr(error, 'strerror', None) or 'not text'
        raise BadUserFile(f'{named}: {reason}') from None
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not _is_bcrypt(line):
            raise BadUserFile(
                f'{named}: line {number} is not NAME:HASH with a hash of'
                ' bcrypt; "htpasswd -B" makes such lines'
            )


def _is_bcrypt(line: str) -> bool:
    name, _, hashed = line.strip().partition(':')
    return bool(name) and hashed[:4] in ('$2y$', '$2a$', '$2b$')
