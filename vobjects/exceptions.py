# SPDX-License-Identifier: Apache-2.0
"""Everything this package raises.

::

    VobjectsError
    ├── InvalidVersion          text that is no version (also a ValueError)
    ├── DeclarationError        a type whose history contradicts itself
    ├── ConversionError         an object that cannot be carried across
    │   ├── LossyDowngrade      the older side could not hold what was said
    │   ├── TypeNotSpoken       the older side does not know the type at all
    │   └── UnknownField        a primitive with a field its version lacks
    ├── NotPickled              objects have a serializer (also a TypeError)
    ├── OutOfReach              a server that we need does not answer
    └── FleetError              the live peers, or what we know of them
        ├── NoLivePeer          nobody has reported, or nobody answers
        └── UnknownReader       a digest of a manifest the answerer never saw

Each message says what was wrong, where, and what would make it right.
"""

from __future__ import annotations

from typing import Any

#: Characters of a caller's value that an error message repeats.
SHOWN = 60


def cut(value: Any) -> str:
    """Return ``repr(value)``, cut to :data:`SHOWN` characters."""
    return cut_text(repr(value))


def cut_text(text: str) -> str:
    """Return a text, cut to :data:`SHOWN` characters."""
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + '…'


class VobjectsError(Exception):
    """Root of every error of this package."""


class InvalidVersion(VobjectsError, ValueError):
    """A text that is not ``major.minor``."""

    def __init__(self, text: object) -> None:
        self.text = text
        super().__init__(
            f'{cut(text)} is not a version; write MAJOR.MINOR, for example'
            " '1.10', without sign, spaces or leading zeros"
        )


class DeclarationError(VobjectsError, TypeError):
    """A type whose declaration contradicts itself; raised at registration."""


class ConversionError(VobjectsError):
    """An object cannot be carried from one version to another."""


class LossyDowngrade(ConversionError):
    """The target version has no place for a value that was given.

    :ivar type_name: the versioned object
    :ivar field: the field that would be lost
    :ivar value: what the caller said, cut to a readable length
    :ivar from_version: the object version the value needs
    :ivar to_version: the object version the peer speaks
    :ivar peer: who forces the older version, as a clause that can stand
        after "because"; may be empty
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
        # All arguments, so that RPC can build the error again.
        super().__init__(
            type_name, field, value, from_version, to_version, peer
        )

    def __str__(self) -> str:
        because = f' because {self.peer}' if self.peer else ''
        return (
            f'{self.type_name}.{self.field}={self.value} needs'
            f' {self.type_name} {self.from_version}, but {self.to_version}'
            f' must be spoken{because}'
        )

    def for_peer(self, peer: str) -> LossyDowngrade:
        """Return the same error, naming the peer that forces it."""
        return LossyDowngrade(
            self.type_name,
            self.field,
            self.value,
            self.from_version,
            self.to_version,
            peer,
        )


class TypeNotSpoken(ConversionError):
    """A live peer does not know this type at any version."""

    def __init__(self, type_name: str, peer: str = '') -> None:
        self.type_name = type_name
        self.peer = peer
        super().__init__(type_name, peer)

    def __str__(self) -> str:
        because = f': {self.peer}' if self.peer else ' by the oldest peer'
        return f'{self.type_name} is not understood{because}'


class UnknownField(ConversionError):
    """A primitive holds a field that its stated version does not have."""

    def __init__(self, type_name: str, field: str, version: object) -> None:
        self.type_name = type_name
        self.field = field
        self.version = str(version)
        super().__init__(type_name, field, self.version)

    def __str__(self) -> str:
        return (
            f'{self.type_name} {self.version} has no field {cut(self.field)};'
            ' the sender labelled a newer form as this version, or misspelled'
            ' it'
        )


class NotPickled(VobjectsError, TypeError):
    """Somebody tried to pickle a versioned object."""

    def __init__(self, type_name: str) -> None:
        self.type_name = type_name
        super().__init__(type_name)

    def __str__(self) -> str:
        return (
            f'{self.type_name} is not pickled: a pickle knows no versions,'
            ' and reading one may run anything; use'
            ' vobjects.serializer.to_bytes() and from_bytes()'
        )


class OutOfReach(VobjectsError):
    """A server that this process needs does not answer."""


class FleetError(VobjectsError):
    """Something about the live peers, or about our knowledge of them."""


class NoLivePeer(FleetError):
    """No peer has reported itself, or none answers."""


class UnknownReader(FleetError):
    """An answer was asked for a manifest the answerer has never seen."""
