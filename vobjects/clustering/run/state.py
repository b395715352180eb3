# SPDX-License-Identifier: Apache-2.0
"""Manage the directory that holds everything `vobjects up` keeps.

::

    vobjects.conf      configuration, written at every start
    vobjects.sqlite    the database, unless another is configured
    receivers.key      encrypts users' trusts in the database
    rpc/               sockets of the embedded transport
    metrics/           counters shared by the API processes
    log/NAME.log       the log of process NAME
    lock               held while any process of a run is alive; has its pid
"""

from __future__ import annotations

import base64
import fcntl
import os
import pathlib
import re
import secrets
import shlex
import stat
import time
from collections.abc import Mapping

from vobjects import exceptions
from vobjects.cli import special_files
from vobjects.clustering.run import logs

#: Size in bytes above which a log is renamed when a run starts.
LOG_LIMIT = 10_000_000

#: Length of a key, which is one of Fernet.
_KEY_BYTES = 32

#: The content of its file; after a rotation, the older keys follow.
_KEYS = re.compile(rb'[A-Za-z0-9_-]{43}=(, *[A-Za-z0-9_-]{43}=)*')

#: Characters that end a path in a URL, or that only some parsers of URLs
#: decode.
_NOT_IN_URLS = frozenset('%?#')

_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH

_HEADER = """\
# Written by `vobjects up` at every start; changes are lost. Put settings of
# your own into another file and name it with --config-file.
"""


class StateError(exceptions.VobjectsError):
    """The state directory cannot be used; the message explains the fix."""


class StateDirectory:
    """A state directory for its owner only, created if it does not exist.

    :param path: relative to the working directory, or absolute
    :raises StateError: it cannot be created, other users may write to it, or
        it contains a FIFO or a device
    """

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path.expanduser().absolute()
        if odd := sorted(_NOT_IN_URLS & set(str(self.path))):
            raise StateError(
                f'the state directory {self.path} becomes part of URLs, so it'
                f' cannot have {" ".join(odd)} in it; choose another with'
                ' --state-dir'
            )
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._check_owner()
            for name in ('log', 'rpc'):
                (self.path / name).mkdir(mode=0o700, exist_ok=True)
            self._check_files()
        except OSError as error:
            raise StateError(
                f'the directory {error.filename or self.path} cannot be'
                f' created: {error.strerror}; choose another state directory'
                ' with --state-dir'
            ) from None

    def _check_owner(self) -> None:
        status = self.path.stat()
        if status.st_uid != os.geteuid():
            raise StateError(
                f'the state directory {self.path} belongs to another user;'
                ' choose another with --state-dir'
            )
        if status.st_mode & _WRITABLE_BY_OTHERS:
            raise StateError(
                f'other users may write to the state directory {self.path}'
                f' (mode {status.st_mode & 0o7777:04o}); run: chmod 0700'
                f' {shlex.quote(str(self.path))}'
            )

    def _check_files(self) -> None:
        for directory in (self.path, self.path / 'log'):
            for path in directory.iterdir():
                kind = special_files.kind_of(path)
                if kind and not path.is_dir():
                    raise StateError(f'{path} is {kind}; delete it')

    def lock(self, *, within: float = 0) -> int:
        """Lock the directory for this process and its children.

        :param within: seconds to wait for the last processes of a dead run
        :returns: a file descriptor; every process that has it open holds the
            lock
        :raises StateError: other processes hold the lock
        """
        descriptor = os.open(
            self.path / 'lock', os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
        )
        until = time.monotonic() + within
        while not _locked(descriptor):
            owner = _owner(descriptor)
            if _is_alive(owner) or time.monotonic() >= until:
                os.close(descriptor)
                raise StateError(self._in_use(owner))
            time.sleep(0.1)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f'{os.getpid()}\n'.encode(), 0)
        return descriptor

    def _in_use(self, owner: int) -> str:
        if _is_alive(owner):
            return (
                f'{self.path} is in use by process {owner}; stop it (kill'
                f' {owner}), or choose another directory with --state-dir'
            )
        return (
            f'{self.path} is in use by processes that an earlier run left'
            ' and that are stopping; try again in a few seconds'
        )

    def log(self, name: str) -> pathlib.Path:
        """Return the path of a process's log; a long log is renamed first."""
        path = self.path / 'log' / f'{name}.log'
        if logs.size(path) > LOG_LIMIT:
            path.replace(path.with_suffix('.log.1'))
        return path

    def key(self) -> str:
        """Return the key that encrypts credentials; create it if necessary.

        :raises StateError: the file cannot be read or written, or has no key
        """
        path = self.path / 'receivers.key'
        try:
            if not path.exists():
                new_key = base64.urlsafe_b64encode(
                    secrets.token_bytes(_KEY_BYTES)
                )
                _write_privately(path, f'{new_key.decode()}\n')
            key = path.read_bytes().strip()
        except OSError as error:
            raise StateError(
                f'the key {path} cannot be used: {error.strerror}'
            ) from None
        if not _KEYS.fullmatch(key):
            raise StateError(
                f'{path} has no key of {_KEY_BYTES} bytes in URL-safe base64;'
                ' restore the file from a backup, or delete it: a new key'
                ' cannot decrypt the credentials of the receivers'
            )
        return key.decode()

    def write_configuration(
        self, sections: Mapping[str, Mapping[str, object]]
    ) -> pathlib.Path:
        """Write ``vobjects.conf`` for oslo.config.

        :param sections: group -> option -> value
        :returns: the path of the file
        :raises StateError: a value cannot be represented in such a file
        """
        path = self.path / 'vobjects.conf'
        text = '\n'.join(
            [_HEADER, *(_section(name, sections[name]) for name in sections)]
        )
        _write_privately(path, text)
        return path


def _write_privately(path: pathlib.Path, text: str) -> None:
    """Write a file with secrets, such as passwords in URLs.

    Other users can never read it, not even between its creation and a chmod.
    The file is replaced as a whole.
    """
    draft = path.with_suffix('.new')
    draft.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with os.fdopen(os.open(draft, flags, 0o600), 'w') as file:
        file.write(text)
    draft.replace(path)


def _section(name: str, options: Mapping[str, object]) -> str:
    lines = [f'{key} = {_value(key, options[key])}' for key in options]
    return '\n'.join([f'[{name}]', *lines, ''])


def _value(key: str, value: object) -> str:
    text = str(value)
    if not text.isprintable():
        raise StateError(
            f'{key} has a character that a configuration file cannot hold:'
            f' {exceptions.cut(text)}'
        )
    return text.replace('$', '$$')  # oslo.config substitutes $name


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _owner(descriptor: int) -> int:
    """Return the process id in the lock file; 0 if it is still empty."""
    text = os.pread(descriptor, 32, 0).decode(errors='replace').strip()
    return int(text) if text.isdecimal() else 0


def _is_alive(pid: int) -> bool:
    if not pid:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
