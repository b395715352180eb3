# SPDX-License-Identifier: Apache-2.0
"""The registry: operations x microversions -> shapes.

An operation is known by its method, its path and, where the body names an
action, that action's key. What it is at a microversion is asked of the code
that serves it, so that the two cannot differ.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from vobjects import exceptions
from vobjects.contract import walk
from vobjects.contract.walk import Schema
from vobjects.microversions.policy import Policy
from vobjects.versions import Version

#: Schema of what nobody declared: it says nothing.
UNDECLARED: Schema = {}


@dataclasses.dataclass(frozen=True, slots=True)
class Shape:
    """An operation at one microversion.

    :ivar path: name of a path's part -> its schema
    :ivar query: schema of an object: parameters are its properties
    :ivar body: schema of the request's body; None: none is read
    :ivar body_required: whether there must be one
    :ivar responses: status -> schema of the body; None: there is none
    :ivar headers: status -> header that such a response has -> its schema,
        besides those that every response has
    :ivar deprecated: it is still there, but will not stay
    """

    path: Mapping[str, Schema]
    query: Schema
    body: Schema | None
    responses: Mapping[int, Schema | None]
    body_required: bool = True
    headers: Mapping[int, Mapping[str, Schema]] = dataclasses.field(
        default_factory=dict
    )
    deprecated: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Operation:
    """Something a client may ask.

    :ivar path: ``{name}`` stands for one segment
    :ivar shape_at: microversion -> shape; None where it is not there
    :ivar key: of the action in the body, which tells operations of one
        method and path apart; empty: there is only one
    :ivar summary: one line
    :ivar tag: what it is about, such as ``clusters``
    """

    method: str
    path: str
    shape_at: Callable[[Version], Shape | None]
    key: str = ''
    summary: str = ''
    tag: str = ''

    @property
    def name(self) -> str:
        """The operation, for people: ``POST /v1/x/{id}/actions (resize)``."""
        key = f' ({self.key})' if self.key else ''
        return f'{self.method} {self.path}{key}'

    @property
    def id(self) -> str:
        """The operation, for programs: ``post_v1_x_id_actions_resize``."""
        words = re.findall(r'[A-Za-z0-9]+', self.name)
        return '_'.join(words).lower()


class Contract:
    """What a service promises, at each of its microversions.

    :param policy: says which microversions there are
    :param operations: in the order of the documents
    :param history: microversion -> sentences that say what it brought
    :ivar versions: every microversion, oldest first
    :raises vobjects.exceptions.DeclarationError: an operation is there twice
    """

    def __init__(
        self,
        policy: Policy,
        operations: Sequence[Operation],
        history: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.policy = policy
        self.operations = tuple(operations)
        self.history = dict(history or {})
        self._by_name = {one.name: one for one in operations}
        if len(self._by_name) != len(self.operations):
            names = [one.name for one in operations]
            twice = next(name for name in names if names.count(name) > 1)
            raise exceptions.DeclarationError(
                f'{twice} is in the contract twice'
            )
        lowest, highest = policy.minimum, policy.maximum
        self.versions = tuple(
            Version(lowest.major, minor)
            for minor in range(lowest.minor, highest.minor + 1)
        )
        self._shapes = functools.cache(self._shapes_at)
        self._spans = functools.cache(self._span_of)

    def operation(self, name: str) -> Operation:
        """Return the operation of a name.

        :raises KeyError: there is none
        """
        return self._by_name[name]

    def at(self, version: Version) -> Mapping[str, Shape]:
        """Return name of operation -> shape, of those that are there.

        :raises vobjects.exceptions.VobjectsError: no such microversion
        """
        if version not in self.versions:
            raise exceptions.VobjectsError(
                f'there is no microversion {version}; there are'
                f' {self.policy.minimum} to {self.policy.maximum}'
            )
        return self._shapes(version)

    def since(self, name: str) -> tuple[Version, Version | None]:
        """Return the first version that has an operation, and the last.

        :returns: None as the last: it is still there
        :raises KeyError: no version has it
        """
        return self._spans(name)

    def undeclared(self) -> Iterator[str]:
        """Yield where a schema is missing, with operation and version."""
        for version in self.versions:
            for name, shape in self.at(version).items():
                for place, schema in parts(shape):
                    for where in _silent(schema, place):
                        yield f'{name} at {version}: {where} has no schema'
                if not any(200 <= code < 400 for code in shape.responses):
                    yield f'{name} at {version}: no status of a success'

    def _span_of(self, name: str) -> tuple[Version, Version | None]:
        there = [v for v in self.versions if name in self.at(v)]
        if not there:
            raise KeyError(name)
        last = None if there[-1] == self.versions[-1] else there[-1]
        return there[0], last

    def _shapes_at(self, version: Version) -> Mapping[str, Shape]:
        found = {}
        for one in self.operations:
            shape = one.shape_at(version)
            if shape is not None:
                found[one.name] = shape
        return found


def parts(shape: Shape) -> Iterator[tuple[str, Schema]]:
    """Yield the schemas of a shape, each with the place it is for.

    Places are ``path.NAME``, ``query``, ``body`` and ``response STATUS``.
    """
    for name, schema in shape.path.items():
        yield f'path.{name}', schema
    yield 'query', shape.query
    if shape.body is not None:
        yield 'body', shape.body
    for status, answer in shape.responses.items():
        if answer is not None:
            yield f'response {status}', answer


def _silent(schema: Schema, place: str) -> Iterator[str]:
    """Yield the places where a schema says nothing.

    ``{'type': 'object'}`` does say something: the content is the user's own.
    """
    if not schema:
        yield place
    for where, found in walk.places(schema, place):
        if not found:
            yield where
