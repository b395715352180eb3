# SPDX-License-Identifier: Apache-2.0
"""What a profile type must be able to do, and the types there are."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Protocol

from engine import plugins
from engine.profiles import schema
from engine.providers import base as providers
from vobjects import exceptions
from vobjects.clustering import errors


@dataclasses.dataclass(frozen=True, slots=True)
class NodeView:
    """What a profile type sees of a node.

    :ivar physical_id: what the cloud calls it; None: it has none yet
    """

    id: str
    name: str
    physical_id: str | None
    metadata: Mapping[str, Any]


class ProfileType(Protocol):
    """A type of things that nodes can be.

    The methods that take a provider raise
    :class:`engine.providers.base.ProviderError`, and may be called again
    after an engine has died in the middle.
    """

    name: str
    version: str
    #: version -> [{'status': ..., 'since': ...}]
    support_status: Mapping[str, list[dict[str, str]]]
    properties: schema.Schema
    #: What users may have done to a node.
    operations: Mapping[str, schema.Operation]

    def create(
        self,
        provider: providers.Provider,
        node: NodeView,
        properties: Mapping[str, Any],
    ) -> str:
        """Make the node's object and return its physical ID."""

    def update(
        self,
        provider: providers.Provider,
        node: NodeView,
        old: Mapping[str, Any],
        new: Mapping[str, Any],
    ) -> None:
        """Bring the node's object from one spec to another."""

    def delete(self, provider: providers.Provider, node: NodeView) -> None:
        """Remove the node's object, whether or not its ID is known."""

    def check(self, provider: providers.Provider, node: NodeView) -> str:
        """Return '' if the object is well, else what is wrong with it."""

    def recover(
        self,
        provider: providers.Provider,
        node: NodeView,
        properties: Mapping[str, Any],
        operation: str,
        parameters: Mapping[str, Any],
    ) -> str:
        """Bring the object back and return its (new) physical ID.

        :param operation: one of ``consts.RECOVERY_OPERATIONS``
        """

    def operate(
        self,
        provider: providers.Provider,
        node: NodeView,
        operation: str,
        parameters: Mapping[str, Any],
    ) -> None:
        """Do something to the object.

        :param operation: one of :attr:`operations`
        """

    def details(
        self, provider: providers.Provider, node: NodeView
    ) -> dict[str, Any]:
        """Return what the cloud says about the object."""

    def adopt(
        self, provider: providers.Provider, physical_id: str, *, snapshot: bool
    ) -> dict[str, Any]:
        """Return properties by which an object that is there could be made.

        :param snapshot: whether its image is to be made of what it is now
        """


class Registry(plugins.Registry[ProfileType]):
    """The profile types of this build, by ``NAME-VERSION``."""

    NAMESPACE = 'vobjects.profiles'
    WORD = 'profile'

    def check_operation(
        self, type_name: str, operation: str, parameters: Mapping[str, Any]
    ) -> ProfileType:
        """Return the type of a name, which offers an operation.

        :raises vobjects.clustering.errors.BadRequest: it does not, or the
            parameters do not fit
        """
        kind = self.get(type_name)
        offered = kind.operations.get(operation)
        if offered is None:
            raise errors.BadRequest(
                f'The requested operation {exceptions.cut(operation)} is'
                f" not supported by the profile type '{type_name}'; there are"
                f' {", ".join(kind.operations) or "none"}.'
            )
        schema.validate(offered.parameters, parameters, 'params')
        return kind
