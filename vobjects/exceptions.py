# SPDX-License-Identifier: Apache-2.0
"""Exceptions raised by this package.

::

    VobjectsError
    ├── InvalidVersion          malformed version (also a ValueError)
    ├── DeclarationError        contradictory declarations (also a TypeError)
    ├── NoSuchField             an attribute its type lacks (AttributeError)
    ├── FieldsMissing           a request without its required fields
    ├── ConversionError         an object that cannot be converted
    │   ├── LossyDowngrade      the older version cannot hold a value
    │   ├── UnsupportedType     a peer does not know the type
    │   └── UnknownField        a primitive with a field its version lacks
    ├── NotPickled              objects cannot be pickled (also a TypeError)
    ├── Unreachable             a required server does not respond
    ├── DeadlinePassed          the caller of a request has given up
    └── FleetError              a problem with the live peers
        ├── NoLivePeer          no peer has reported, or none responds
        │   └── NoCapablePeer   none supports what a request needs
        └── UnknownManifest     the server does not know a manifest's digest

Each message states the problem, its location and the fix.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from vobjects import suggestions

__all__ = [
    'ConversionError',
    'DeadlinePassed',
    'DeclarationError',
    'FieldsMissing',
    'FleetError',
    'InvalidVersion',
    'LossyDowngrade',
    'NoCapablePeer',
    'NoLivePeer',
    'NoSuchField',
    'ServiceError',
    'TlsConfigError',
    'UnknownField',
    'Unreachable',
    'UnsupportedType',
    'VobjectsError',
]

#: Maximum length of a caller's value in an error message, in characters.
MAX_VALUE_LENGTH = 60

#: Maximum length of the text of another package's error, in characters.
MAX_PROBLEM_LENGTH = 200

#: Maximum length of an error message that a client receives, in characters.
MAX_MESSAGE_LENGTH = 1000

#: Control characters except line feeds, and lone surrogates.
_UNPRINTABLE = re.compile(r'[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff]')


def cut(value: Any) -> str:
    """Return the truncated ``repr`` of a value."""
    return cut_text(repr(value))


def cut_text(text: str) -> str:
    """Return ``text``, truncated to :data:`MAX_VALUE_LENGTH` characters."""
    if len(text) <= MAX_VALUE_LENGTH:
        return text
    return text[: MAX_VALUE_LENGTH - 1] + '…'


def message_text(text: str) -> str:
    """Return an error message as clients receive it.

    It has at most :data:`MAX_MESSAGE_LENGTH` characters. Control characters
    and lone surrogates become question marks, except line feeds, which
    separate the problems in some of Senlin's messages.
    """
    if len(text) > MAX_MESSAGE_LENGTH:
        text = text[: MAX_MESSAGE_LENGTH - 1] + '…'
    if text.isprintable():
        return text
    return _UNPRINTABLE.sub('?', text)


def text_of(error: BaseException) -> str:
    """Return the text of any error, as :func:`message_text` does."""
    try:
        return message_text(str(error))
    except Exception:  # noqa: BLE001 - of the error's class
        return '(no text: its str() fails)'


def storable_text(text: str) -> str:
    """Replace NUL characters and lone surrogates by question marks.

    PostgreSQL cannot store the former, and UTF-8 cannot encode the latter.
    """
    return text.replace('\0', '?').encode(errors='replace').decode()


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split('.') if part.isdecimal()]


class VobjectsError(Exception):
    """Base class of all errors of this package."""

    @property
    def message(self) -> str:
        """The text of the error, without the traceback of a remote error.

        oslo.messaging rebuilds a remote error as a subclass of its class,
        named ``..._Remote``. The ``str()`` of that class also has the
        server's traceback.
        """
        local_class: type[BaseException] = next(
            cls
            for cls in type(self).__mro__
            if not cls.__name__.endswith('_Remote')
        )
        return local_class.__str__(self)


class InvalidVersion(VobjectsError, ValueError):
    """A version that is not of the form ``major.minor``."""

    def __init__(self, text: object) -> None:
        self.text = text
        super().__init__(
            f'{cut(text)} is not a version; write MAJOR.MINOR, for example'
            " '1.10', without sign, spaces or leading zeros"
        )


class DeclarationError(VobjectsError, TypeError):
    """A contradiction in a type's declarations, raised at registration."""


class NoSuchField(VobjectsError, AttributeError):
    """An attempt to use a field that the type does not have.

    :ivar type_name: the versioned object
    :ivar field: the name as the caller wrote it
    :ivar known: the names of the type's fields
    """

    def __init__(
        self, type_name: str, field: str, known: Iterable[str]
    ) -> None:
        self.type_name = type_name
        self.field = field
        self.known = tuple(known)
        super().__init__(type_name, field, self.known)

    def __str__(self) -> str:
        advice = suggestions.suggest(self.field, self.known)
        if suggestions.nearest(self.field, self.known) is None:
            advice = f'declare it ({advice or "it has no fields"})'
        return f'{self.type_name} has no field {cut(self.field)}; {advice}'


class FieldsMissing(VobjectsError):
    """A request is about to be sent without its required fields.

    :ivar type_name: the versioned object
    :ivar fields: the names of the missing fields, in order of declaration
    """

    def __init__(self, type_name: str, fields: Iterable[str]) -> None:
        self.type_name = type_name
        self.fields = tuple(fields)
        super().__init__(type_name, self.fields)

    def __str__(self) -> str:
        listed = ', '.join(map(repr, self.fields))
        return (
            f'{self.type_name} cannot be sent without {listed}: set'
            f' {"it" if len(self.fields) == 1 else "them"} first. A field'
            ' may stay unset if it has a default or nullable=True.'
        )


class ConversionError(VobjectsError):
    """An object cannot be converted from one version to another."""


class LossyDowngrade(ConversionError):
    """The target version cannot hold a value that was set.

    :ivar type_name: the versioned object
    :ivar field: the field that would be lost
    :ivar value: the value that the caller set, truncated
    :ivar from_version: the object version the value needs
    :ivar to_version: the object version the peer supports
    :ivar peer: the peer that forces the older version, as a clause that can
        follow "because"; may be empty
    """

    def __init__(
        self,
        type_name: str,
        field: str,
        value: str,
        from_version: str,
        to_version: str,
        peer: str = '',
    ) -> None:
        self.type_name = type_name
        self.field = field
        self.value = value
        self.from_version = from_version
        self.to_version = to_version
        self.peer = peer
        # Exception.args holds all arguments, so that RPC can rebuild the
        # error.
        super().__init__(
            type_name, field, value, from_version, to_version, peer
        )

    @property
    def is_upgrade(self) -> bool:
        """Whether the newer version has given up a value of the older."""
        return _numbers(self.from_version) < _numbers(self.to_version)

    def __str__(self) -> str:
        because = f' because {self.peer}' if self.peer else ''
        if self.is_upgrade:
            return (
                f'{self.type_name} {self.to_version} cannot hold'
                f' {self.field}={self.value} of {self.type_name}'
                f' {self.from_version}{because}'
            )
        return (
            f'{self.type_name}.{self.field}={self.value} needs'
            f' {self.type_name} {self.from_version}, but the peer supports'
            f' only {self.to_version}{because}'
        )

    def for_peer(self, peer: str) -> LossyDowngrade:
        """Return this error with the peer that forces the older version."""
        args = (*self.args[:-1], peer)
        return LossyDowngrade(*args)


class UnsupportedType(ConversionError):
    """A live peer does not know any version of this type."""

    def __init__(self, type_name: str, peer: str = '') -> None:
        self.type_name = type_name
        self.peer = peer
        super().__init__(type_name, peer)

    def __str__(self) -> str:
        because = f': {self.peer}' if self.peer else ''
        return f'a peer does not support {self.type_name}{because}'


#: Errors of peers whose release is too old for an object.
TOO_OLD = LossyDowngrade, UnsupportedType


class UnknownField(ConversionError):
    """A primitive has a field that its stated version does not have."""

    def __init__(self, type_name: str, field: str, version: object) -> None:
        self.type_name = type_name
        self.field = field
        self.version = str(version)
        super().__init__(type_name, field, self.version)

    def __str__(self) -> str:
        return (
            f'{self.type_name} {self.version} has no field {cut(self.field)};'
            ' either the name is misspelled, or the sender stated too old a'
            ' version'
        )


class NotPickled(VobjectsError, TypeError):
    """A caller tried to pickle a versioned object."""

    def __init__(self, type_name: str) -> None:
        self.type_name = type_name
        super().__init__(type_name)

    def __str__(self) -> str:
        return (
            f'{self.type_name} cannot be pickled: a pickle has no version,'
            ' and loading one may run any code; use'
            ' vobjects.rpc.serializer.to_bytes() and from_bytes()'
        )


class Unreachable(VobjectsError):
    """A server that this process needs does not respond."""


class TlsConfigError(VobjectsError):
    """An option for TLS contradicts others, or its file is not usable."""


class DeadlinePassed(VobjectsError):
    """A request arrived after its caller had given up."""


class ServiceError(Exception):
    """Base class of the errors that a service's server raises to its callers.

    The class gives the kind of error, the message the problem. Derive classes
    from it in a module that the service declares in ``error_modules``. Callers
    then receive the same class, and a text without the server's traceback.

    All arguments are positional strings: the receiver rebuilds the error from
    them, and a newer release may send more than this one knows.

    :cvar status: HTTP status of the response if an API does not handle the
        error itself; None: 500, without the message
    :cvar code: code in the response; empty: the words of the class's name
    :cvar title: the problem, the same for each occurrence; empty: the phrase
        of the status
    :ivar message: the problem, its place and the fix; see
        ``message_text``
    :ivar compat_message: wording that clients of the service expect, such as
        Senlin's; empty: the message
    """

    status: int | None = None
    code: str = ''
    title: str = ''
    compat_message: str = ''

    def __init__(self, message: str, *details: str) -> None:
        self.message = message_text(message)
        super().__init__(self.message, *details)

    def __str__(self) -> str:
        return self.message


class FleetError(VobjectsError):
    """A problem with the live peers, or with the known state of them."""


class NoLivePeer(FleetError):
    """No peer has reported, or none responds."""


class NoCapablePeer(NoLivePeer):
    """No live server supports all versions that a request needs.

    :ivar needs: the versions that not all servers support, in words
    """

    def __init__(self, needs: str) -> None:
        self.needs = needs
        super().__init__(needs)

    def __str__(self) -> str:
        return f'no live server supports {self.needs}'


class UnknownManifest(FleetError):
    """A caller requested a response for a manifest unknown to the server."""
