# SPDX-License-Identifier: Apache-2.0
"""The contract registry: operation and microversion -> shape.

An operation is identified by its method, its path and, if the body names an
action, the action's key. Its shape at a microversion comes from the code that
serves it, so that contract and code cannot differ.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence

from vobjects import exceptions
from vobjects.microversions.version_policy import VersionPolicy
from vobjects.versions import Version
from vobjects_contract import schema_tree
from vobjects_contract.schema_tree import Schema

#: Schema of a part for which no schema is declared.
UNDECLARED: Schema = {}


@dataclasses.dataclass(frozen=True, slots=True)
class OperationShape:
    """An operation at one microversion.

    :ivar path: name of a path parameter -> its schema
    :ivar query: schema of an object whose properties are the parameters
    :ivar body: schema of the request body; None: no body is read
    :ivar body_required: whether the body is required
    :ivar responses: status -> schema of the response body; None: no body
    :ivar headers: status -> name -> schema of the response headers, without
        those that every response has
    """

    path: Mapping[str, Schema]
    query: Schema
    body: Schema | None
    responses: Mapping[int, Schema | None]
    body_required: bool = True
    headers: Mapping[int, Mapping[str, Schema]] = dataclasses.field(
        default_factory=dict
    )


@dataclasses.dataclass(frozen=True, slots=True)
class Operation:
    """A REST operation, with its shape at each microversion.

    :ivar method: HTTP method
    :ivar path: path, in which ``{name}`` stands for one segment
    :ivar shape_at: microversion -> shape, or None if the version lacks the
        operation
    :ivar key: key of the action in the body, which distinguishes operations
        with the same method and path; empty: no action
    :ivar summary: one line
    :ivar tag: group of the operation, such as ``clusters``
    """

    method: str
    path: str
    shape_at: Callable[[Version], OperationShape | None]
    key: str = ''
    summary: str = ''
    tag: str = ''

    @property
    def name(self) -> str:
        """Name for people, such as ``POST /v1/x/{id}/actions (resize)``."""
        key = f' ({self.key})' if self.key else ''
        return f'{self.method} {self.path}{key}'


def tag_of(policy: VersionPolicy, path: str) -> str:
    """Return the first fixed segment of a path after the major version."""
    fixed = [part for part in path.split('/') if part and '{' not in part]
    return next((part for part in fixed if part != policy.major), '')


class Contract:
    """The operations of a service at each of its microversions.

    :param policy: version policy, which gives the range of microversions
    :param operations: operations in the order of the documents
    :param history: microversion -> sentences about its changes
    :param accepted: contract that the service accepts and shows at each
        microversion, if it has more than the documented one; None: the same
    :ivar accepted: that contract; without one, this contract itself
    :ivar versions: every microversion, oldest first
    :raises vobjects.exceptions.DeclarationError: two operations have the same
        name
    """

    def __init__(
        self,
        policy: VersionPolicy,
        operations: Sequence[Operation],
        history: Mapping[str, Sequence[str]] | None = None,
        accepted: Contract | None = None,
    ) -> None:
        self.policy = policy
        self.operations = tuple(operations)
        self.history = dict(history or {})
        self.accepted = accepted or self
        names = [operation.name for operation in operations]
        if repeated := [name for name in names if names.count(name) > 1]:
            raise exceptions.DeclarationError(
                f'{repeated[0]} is in the contract twice'
            )
        self.versions = policy.versions
        self._shapes = functools.cache(self._shapes_at)
        self._version_ranges = functools.cache(self._version_range)

    def at(self, version: Version) -> Mapping[str, OperationShape]:
        """Return name -> shape of the operations that a microversion has.

        :raises vobjects.exceptions.VobjectsError: the microversion does not
            exist
        """
        if version not in self.versions:
            raise exceptions.VobjectsError(
                f'there is no microversion {version}; use one of'
                f' {self.policy.minimum} to {self.policy.maximum}'
            )
        return self._shapes(version)

    def since(self, name: str) -> tuple[Version, Version | None]:
        """Return the first and the last version that have an operation.

        :returns: None as the last version if the newest one has the operation
        :raises KeyError: no version has the operation
        """
        return self._version_ranges(name)

    def undeclared(self) -> Iterator[str]:
        """Yield a message for each part without a schema or success status."""
        for version in self.versions:
            for name, shape in self.at(version).items():
                for part_location, schema in parts(shape):
                    for location in _empty_schemas(schema, part_location):
                        yield f'{name} at {version}: {location} has no schema'
                if not any(200 <= code < 400 for code in shape.responses):
                    yield f'{name} at {version}: no success status'

    def _version_range(self, name: str) -> tuple[Version, Version | None]:
        versions = [v for v in self.versions if name in self.at(v)]
        if not versions:
            raise KeyError(name)
        last = None if versions[-1] == self.versions[-1] else versions[-1]
        return versions[0], last

    def _shapes_at(self, version: Version) -> Mapping[str, OperationShape]:
        shapes = {}
        for operation in self.operations:
            shape = operation.shape_at(version)
            if shape is not None:
                shapes[operation.name] = shape
        return shapes


def parts(shape: OperationShape) -> Iterator[tuple[str, Schema]]:
    """Yield the schemas of a shape, each with its location.

    The locations are ``path.NAME``, ``query``, ``body`` and
    ``response STATUS``.
    """
    for name, schema in shape.path.items():
        yield f'path.{name}', schema
    yield 'query', shape.query
    if shape.body is not None:
        yield 'body', shape.body
    for status, content in shape.responses.items():
        if content is not None:
            yield f'response {status}', content


def _empty_schemas(schema: Schema, location: str) -> Iterator[str]:
    """Yield the locations where a schema is empty.

    ``{'type': 'object'}`` is not empty: it stands for content that the user
    defines.
    """
    if not schema:
        yield location
    for sublocation, subschema in schema_tree.walk(schema, location):
        if not subschema:
            yield sublocation
