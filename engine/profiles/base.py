# SPDX-License-Identifier: Apache-2.0
"""What a profile type must be able to do, and the types there are."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from engine import plugins
from engine.profiles import schema
from engine.providers import base as providers
from vobjects import exceptions
from vobjects.clustering import errors

#: What an object is told of its node; see :meth:`NodeView.membership`.
MEMBERSHIP = ('cluster_node_id', 'cluster_id', 'cluster_node_index')


@dataclasses.dataclass(frozen=True, slots=True)
class Host:
    """The node that another one is on.

    :ivar type: name of its profile's type, without the version
    :ivar port: where it listens to us
    """

    type: str
    physical_id: str | None
    port: int


class Identified(Protocol):
    """What the cloud tells of an object."""

    @property
    def id(self) -> str: ...


@dataclasses.dataclass(frozen=True, slots=True)
class NodeView:
    """What a profile type sees of a node.

    :ivar physical_id: what the cloud calls it; None: it has none yet
    :ivar index: its number in its cluster
    :ivar host: the node that it is on, if its type wants one
    :ivar placement: where policies put it: ``zone``, ``region_name``,
        ``servergroup``
    """

    id: str
    name: str
    physical_id: str | None
    metadata: Mapping[str, Any]
    cluster_id: str | None = None
    index: int = -1
    host: Host | None = None
    placement: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def known_id(self) -> str:
        """Return what the cloud calls it.

        :raises engine.providers.base.NotFound: it has none yet
        """
        if not self.physical_id:
            raise providers.NotFound(f'node {self.id} has no object yet')
        return self.physical_id

    def objects(
        self, find: Callable[[str], Identified | None]
    ) -> Iterator[str]:
        """Go through the IDs of what it has in the cloud, known or not.

        :param find: returns what was made for the ID of a node; asked when
            the known object has been dealt with
        """
        if self.physical_id:
            yield self.physical_id
        # One may have been made by an engine that died before it said so.
        forgotten = find(self.id)
        if forgotten is not None:
            yield forgotten.id

    def membership(self) -> dict[str, str]:
        """Return what its object is told of the node and its cluster."""
        told = {'cluster_node_id': self.id}
        if self.cluster_id is not None:
            told['cluster_id'] = self.cluster_id
            told['cluster_node_index'] = str(self.index)
        return told

    def cloud(
        self, provider: providers.Provider, properties: Mapping[str, Any]
    ) -> providers.Provider:
        """Return the region that the node is in.

        :param properties: of its profile
        :raises engine.providers.base.ProviderError: the cloud has none such
        """
        context = properties.get('context') or {}
        name = self.placement.get('region_name') or context.get('region_name')
        return provider.in_region(str(name)) if name else provider


@dataclasses.dataclass(frozen=True, slots=True)
class Recreation:
    """How an object is removed to be made anew.

    :ivar fences: ``fence_compute``: whether it is made sure that the old one
        runs no more
    :ivar timeout: ``delete_timeout``: seconds in which it has to be gone
    :ivar insists: ``force_recreate``: whether a new one is made all the same
    """

    fences: bool
    timeout: float | None
    insists: bool

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Recreation:
        """Return what the parameters of a recovery say."""
        timeout = parameters.get('delete_timeout')
        return cls(
            bool(parameters.get('fence_compute')),
            None if timeout is None else float(timeout),
            bool(parameters.get('force_recreate')),
        )


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
    #: Whether nodes are on other nodes, which the properties ``host_node``
    #: or ``host_cluster`` name.
    on_hosts: bool

    def check_properties(self, properties: Mapping[str, Any]) -> None:
        """Refuse properties that fit the schema and make no sense.

        :raises vobjects.clustering.errors.InvalidSpec: naming one
        """

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

    def tell(self, provider: providers.Provider, node: NodeView) -> None:
        """Tell the node's object which cluster the node is in now."""

    def delete(self, provider: providers.Provider, node: NodeView) -> None:
        """Remove the node's object, whether or not its ID is known."""

    def check(self, provider: providers.Provider, node: NodeView) -> str:
        """Return '' if the object is well, else what is wrong with it."""

    def failed(self, provider: providers.Provider, node: NodeView) -> str:
        """Return why the object works no more.

        :returns: '' also if users may have wanted it so, or if it is on its
            way, which :meth:`check` calls not well
        """

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
        :param parameters: of the operation, such as ``type`` of REBOOT; of
            RECREATE those of :class:`Recreation`
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


def refuse_fixed(
    properties: schema.Schema,
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    what: str,
) -> None:
    """Refuse to change properties that stay what they were.

    :param what: whose they are, such as ``a server``
    :raises engine.providers.base.ProviderError: naming them
    """
    fixed = schema.not_updatable(properties, old, new)
    if fixed:
        raise providers.ProviderError(
            f'{", ".join(fixed)} of {what} cannot be changed'
        )


class Registry(plugins.Registry[ProfileType]):
    """The profile types of this build, by ``NAME-VERSION``."""

    NAMESPACE = 'vobjects.profiles'
    WORD = 'profile'

    def check_spec(self, spec: Mapping[str, Any]) -> ProfileType:
        """Return the type of a spec that fits it, and makes sense.

        :raises vobjects.clustering.errors.InvalidSpec: it does not
        """
        kind = super().check_spec(spec)
        kind.check_properties(spec.get('properties') or {})
        return kind

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
            raise errors.BadRequest.advised(
                f'The requested operation {exceptions.cut(operation)} is not'
                f" supported by the profile type '{type_name}'.",
                f'There are {", ".join(kind.operations) or "none"}.',
            )
        try:
            schema.validate(offered.parameters, parameters, schema.PARAMETERS)
        except errors.InvalidSpec as error:
            said = error.said and f'{error.said.rstrip(".")}.'
            raise errors.InvalidSpec(error.message, said) from None
        return kind
