# SPDX-License-Identifier: Apache-2.0
"""The interface of profile types, and their registry."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from engine import plugins
from engine.profiles import schema
from engine.providers import base as providers
from vobjects import exceptions, suggestions
from vobjects.clustering import errors

#: Keys of the membership data in an object; see :meth:`NodeView.membership`.
MEMBERSHIP = ('cluster_node_id', 'cluster_id', 'cluster_node_index')


@dataclasses.dataclass(frozen=True, slots=True)
class Host:
    """The node that hosts another node.

    :ivar type: the name of its profile type, without the version
    :ivar physical_id: the ID of its cloud object
    :ivar port: the port on which it accepts our connections
    """

    type: str
    physical_id: str | None
    port: int


class Identified(Protocol):
    """An object in the cloud."""

    @property
    def id(self) -> str: ...


@dataclasses.dataclass(frozen=True, slots=True)
class NodeView:
    """The view of a node for profile types.

    :ivar physical_id: the ID of its cloud object; None: it has none yet
    :ivar index: the number of the node in its cluster
    :ivar host: the node that hosts it, if its type needs one
    :ivar placement: locations chosen by policies: ``zone``, ``region_name``
        and ``servergroup``
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
        """Return the ID of the node's cloud object.

        :raises engine.providers.base.NotFound: it has none yet
        """
        if not self.physical_id:
            raise providers.NotFound(f'node {self.id} has no object yet')
        return self.physical_id

    def objects(
        self, find: Callable[[str], Identified | None]
    ) -> Iterator[str]:
        """Yield the IDs of the node's cloud objects, recorded or not.

        :param find: returns the object that was created for a node ID; called
            after the caller has processed the recorded object
        """
        if self.physical_id:
            yield self.physical_id
        # An engine may have died after creating an object, before recording
        # it.
        forgotten = find(self.id)
        if forgotten is not None:
            yield forgotten.id

    def membership(self) -> dict[str, str]:
        """Return the membership of the node, to store in its cloud object."""
        told = {'cluster_node_id': self.id}
        if self.cluster_id is not None:
            told['cluster_id'] = self.cluster_id
            told['cluster_node_index'] = str(self.index)
        return told

    def cloud(
        self, provider: providers.Provider, properties: Mapping[str, Any]
    ) -> providers.Provider:
        """Return the cloud's region for the node.

        :param properties: the properties of the node's profile
        :raises engine.providers.base.ProviderError: the region does not exist
        """
        context = properties.get('context') or {}
        name = self.placement.get('region_name') or context.get('region_name')
        return provider.in_region(str(name)) if name else provider


@dataclasses.dataclass(frozen=True, slots=True)
class Recreation:
    """Options for deleting an object before it is created again.

    :ivar fences: ``fence_compute``: whether to ensure that the old object no
        longer runs
    :ivar timeout: ``delete_timeout``: seconds that the deletion may take
    :ivar insists: ``force_recreate``: whether to create a new object even if
        the deletion fails
    """

    fences: bool
    timeout: float | None
    insists: bool

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Recreation:
        """Return the options in the parameters of a recovery."""
        timeout = parameters.get('delete_timeout')
        return cls(
            bool(parameters.get('fence_compute')),
            None
            if timeout is None
            else min(float(timeout), schema.LONGEST_WORK),
            bool(parameters.get('force_recreate')),
        )


class ProfileType(Protocol):
    """The interface of profile types.

    Methods that take a provider raise
    :class:`engine.providers.base.ProviderError`. They may run again after an
    engine has died in the middle of them.
    """

    name: str
    version: str
    #: version -> [{'status': ..., 'since': ...}]
    support_status: Mapping[str, list[dict[str, str]]]
    properties: schema.Schema
    #: Operations that users can run on a node.
    operations: Mapping[str, schema.Operation]
    #: Whether nodes run on other nodes, named by the properties ``host_node``
    #: or ``host_cluster``; ``port`` is that of the host's service.
    on_hosts: bool

    def check_properties(self, properties: Mapping[str, Any]) -> None:
        """Check properties beyond their schema.

        :raises vobjects.clustering.errors.InvalidSpec: names an invalid
            property
        """

    def create(
        self,
        provider: providers.Provider,
        node: NodeView,
        properties: Mapping[str, Any],
    ) -> str:
        """Create the node's object and return its physical ID."""

    def update(
        self,
        provider: providers.Provider,
        node: NodeView,
        old: Mapping[str, Any],
        new: Mapping[str, Any],
    ) -> None:
        """Update the node's object from one set of properties to another."""

    def tell(self, provider: providers.Provider, node: NodeView) -> None:
        """Tell the node's object which cluster the node belongs to now."""

    def delete(self, provider: providers.Provider, node: NodeView) -> None:
        """Delete the node's object, even if its ID was not recorded."""

    def check(self, provider: providers.Provider, node: NodeView) -> str:
        """Return why the object is unhealthy; empty if it is healthy."""

    def failed(self, provider: providers.Provider, node: NodeView) -> str:
        """Return why the object has failed; empty if it has not.

        Unlike :meth:`check`, it accepts states that users may have chosen, and
        states of transition.
        """

    def recover(
        self,
        provider: providers.Provider,
        node: NodeView,
        properties: Mapping[str, Any],
        operation: str,
        parameters: Mapping[str, Any],
    ) -> str:
        """Recover the object and return its (new) physical ID.

        :param operation: one of ``consts.RECOVERY_OPERATIONS``
        :param parameters: parameters of the operation, such as ``type`` for
            REBOOT; for RECREATE, see :class:`Recreation`
        """

    def operate(
        self,
        provider: providers.Provider,
        node: NodeView,
        operation: str,
        parameters: Mapping[str, Any],
    ) -> None:
        """Run an operation on the object.

        :param operation: a key of :attr:`operations`
        """

    def details(
        self, provider: providers.Provider, node: NodeView
    ) -> dict[str, Any]:
        """Return the cloud's description of the object."""

    def adopt(
        self, provider: providers.Provider, physical_id: str, *, snapshot: bool
    ) -> dict[str, Any]:
        """Return the properties that describe an existing object.

        :param snapshot: whether to use a new snapshot of it as the image
        """


def refuse_fixed(
    properties: schema.Schema,
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    what: str,
) -> None:
    """Check that properties that cannot be updated have not changed.

    :param what: the kind of object for the message, such as ``a server``
    :raises engine.providers.base.ProviderError: names the changed properties
    """
    fixed = schema.not_updatable(properties, old, new)
    if fixed:
        raise providers.ProviderError(
            f'{", ".join(fixed)} of {what} cannot be changed'
        )


class Registry(plugins.Registry[ProfileType]):
    """The installed profile types, by ``NAME-VERSION``."""

    NAMESPACE = 'vobjects.profiles'
    WORD = 'profile'

    def check_spec(self, spec: Mapping[str, Any]) -> ProfileType:
        """Validate a spec, and return its type.

        :raises vobjects.clustering.errors.InvalidSpec: the spec is not valid
        """
        kind, properties = self._read(spec)
        kind.check_properties(properties)
        return kind

    def check_operation(
        self, type_name: str, operation: str, parameters: Mapping[str, Any]
    ) -> tuple[ProfileType, dict[str, Any]]:
        """Validate an operation; return its type and converted parameters.

        :raises vobjects.clustering.errors.BadRequest: the type does not
            support the operation, or the parameters are not valid
        """
        kind = self.get(type_name)
        offered = kind.operations.get(operation)
        if offered is None:
            near = suggestions.nearest(operation, kind.operations)
            asked = f'Did you mean {near!r}? ' if near else ''
            names = ', '.join(kind.operations) or 'none'
            raise errors.BadRequest.advised(
                f'The requested operation {exceptions.cut(operation)} is not'
                f" supported by the profile type '{type_name}'.",
                f'{asked}Supported operations: {names}.',
            )
        try:
            resolved = schema.resolve(
                offered.parameters,
                parameters,
                schema.PARAMETERS,
                schema.PARAMETER_TYPES,
            )
        except errors.InvalidSpec as error:
            message = error.compat_message
            if message:
                message = f'{message.rstrip(".")}.'
            raise errors.InvalidSpec(error.message, message) from None
        return kind, resolved
