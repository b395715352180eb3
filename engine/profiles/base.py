# SPDX-License-Identifier: Apache-2.0
"""Base class of profile types, and their registry."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from engine import plugins, spec_schema
from engine.providers import base as providers
from vobjects import exceptions, suggestions
from vobjects.clustering import errors
from vobjects.field_values import equal_primitives

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
    :ivar project: the ID of the project that it belongs to
    :ivar index: the number of the node in its cluster
    :ivar host: the node that hosts it, if its type needs one
    :ivar placement: locations chosen by policies: ``zone``, ``region_name``
        and ``servergroup``
    """

    id: str
    name: str
    physical_id: str | None
    metadata: Mapping[str, Any]
    project: str = ''
    cluster_id: str | None = None
    index: int = -1
    host: Host | None = None
    placement: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def require_physical_id(self) -> str:
        """Return the ID of the node's cloud object.

        :raises engine.providers.base.NotFound: it has none yet
        """
        if not self.physical_id:
            raise providers.NotFound(f'node {self.id} has no object yet')
        return self.physical_id

    def object_ids(
        self, find: Callable[[str], Identified | None]
    ) -> Iterator[str]:
        """Yield the IDs of the node's cloud objects, recorded or not.

        :param find: returns the object that was created for a node ID; called
            after the caller has processed the recorded object
        """
        if self.physical_id:
            yield self.physical_id
        # An engine may have died after creating an object, before recording
        # it, or repeated a request whose response was lost.
        previous = self.physical_id
        while (unrecorded := find(self.id)) is not None:
            if unrecorded.id == previous:
                return  # still listed
            previous = unrecorded.id
            yield previous

    def membership(self) -> dict[str, str]:
        """Return the membership of the node, to store in its cloud object."""
        membership = {'cluster_node_id': self.id}
        if self.cluster_id is not None:
            membership['cluster_id'] = self.cluster_id
            membership['cluster_node_index'] = str(self.index)
        return membership


class ProfileType:
    """Base class of profile types; override the hooks that a type needs.

    Every type needs :meth:`create`, :meth:`delete`, :meth:`check` and
    :meth:`details`.

    Methods that take a provider raise
    :class:`engine.providers.base.ProviderError`. They may run again after an
    engine has died in the middle of them.
    """

    name: str
    version: str
    #: The kind of cloud object for messages, such as ``server``.
    noun: str
    #: version -> [{'status': ..., 'since': ...}]
    support_status: Mapping[str, list[dict[str, str]]]
    properties: spec_schema.Schema
    #: Operations that users can run on a node.
    operations: Mapping[str, spec_schema.Operation] = {}
    #: Supported operations of :meth:`recover`.
    recoveries: Sequence[str] = ('RECREATE',)
    #: Whether nodes run on other nodes, named by the properties ``host_node``
    #: or ``host_cluster``; ``port`` is that of the host's service.
    on_hosts: bool = False
    #: Names of policy types that apply to it although they do not list it.
    policies: Sequence[str] = ()
    #: Name of the only provider that runs its nodes; None: they run on any.
    provider: str | None = None

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
        raise NotImplementedError

    def update(
        self,
        provider: providers.Provider,
        node: NodeView,
        old: Mapping[str, Any],
        new: Mapping[str, Any],
    ) -> None:
        """Update the node's object from one set of properties to another.

        :raises engine.providers.base.ProviderError: names the changed
            properties that are not updatable
        """
        fixed = spec_schema.not_updatable(self.properties, old, new)
        if fixed:
            raise providers.ProviderError(
                f'{", ".join(fixed)} of a {self.noun} cannot be changed'
            )
        if not equal_primitives(old, new):
            self.apply_update(provider, node, old, new)

    def apply_update(
        self,
        provider: providers.Provider,
        node: NodeView,
        old: Mapping[str, Any],
        new: Mapping[str, Any],
    ) -> None:
        """Update the node's object; only updatable properties differ."""

    def update_membership(
        self, provider: providers.Provider, node: NodeView
    ) -> None:
        """Store in the node's object which cluster the node belongs to."""

    def delete(self, provider: providers.Provider, node: NodeView) -> None:
        """Delete the node's object, even if its ID was not recorded."""
        raise NotImplementedError

    def check(self, provider: providers.Provider, node: NodeView) -> str:
        """Return why the object is unhealthy; empty if it is healthy."""
        raise NotImplementedError

    def failure(self, provider: providers.Provider, node: NodeView) -> str:
        """Return why the object has failed; empty if it has not.

        Override it to accept, unlike :meth:`check`, states that users may have
        chosen, and states of transition.
        """
        return self.check(provider, node)

    def recover(
        self,
        provider: providers.Provider,
        node: NodeView,
        properties: Mapping[str, Any],
        operation: str,
        parameters: Mapping[str, Any],
    ) -> str:
        """Recover the object and return its (new) physical ID.

        By default, replace the object.

        :param operation: one of ``consts.RECOVERY_OPERATIONS``
        :param parameters: parameters of the operation: ``type`` for REBOOT;
            for RECREATE ``fence_compute``, whether to ensure that the old
            object no longer runs, ``delete_timeout``, seconds that its
            deletion may take, and ``force_recreate``, whether to create a new
            object even if the deletion fails
        """
        if operation not in self.recoveries:
            raise providers.ProviderError(
                f'a {self.noun} cannot be recovered by {operation}; use'
                f' {" or ".join(self.recoveries)}'
            )
        self.delete(provider, node)
        return self.create(provider, node, properties)

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
        raise providers.ProviderError(
            f'a {self.noun} does not support {operation}'
        )

    def details(
        self, provider: providers.Provider, node: NodeView
    ) -> dict[str, Any]:
        """Return the cloud's description of the object."""
        raise NotImplementedError

    def node_data(
        self, provider: providers.Provider, physical_id: str
    ) -> Mapping[str, Any]:
        """Return what the data of a node contains about its object.

        The location is in ``placement``.
        """
        return {}

    def adopt(
        self, provider: providers.Provider, physical_id: str, *, snapshot: bool
    ) -> dict[str, Any]:
        """Return the properties that describe an existing object.

        :param snapshot: whether to use a new snapshot of it as the image
        """
        raise providers.ProviderError(f'a {self.noun} cannot be adopted')


@dataclasses.dataclass(frozen=True, slots=True)
class NodeObject:
    """A node, and what its profile says about its cloud object.

    :ivar properties: the properties of the profile
    """

    view: NodeView
    profile_id: str
    profile_type: ProfileType
    properties: Mapping[str, Any]

    def cloud(self, provider: providers.Provider) -> providers.Provider:
        """Return the part of a cloud that contains the node.

        :raises engine.providers.base.ProviderError: the region does not exist
        """
        context = self.properties.get('context') or {}
        placement = self.view.placement
        name = placement.get('region_name') or context.get('region_name')
        return provider.in_region(str(name)) if name else provider


class Registry(plugins.Registry[ProfileType]):
    """The installed profile types, by ``NAME-VERSION``."""

    NAMESPACE = 'vobjects.profiles'
    NOUN = 'profile'

    def for_provider(self, name: str) -> Registry:
        """Return the types whose nodes a provider can run.

        Other types are neither listed nor accepted: clients of Senlin may
        expect its types, and no others.

        :param name: the provider's name, as in ``[engine] provider``
        """
        return Registry(
            {
                type_name: profile_type
                for type_name, profile_type in self._types.items()
                if profile_type.provider in (None, name)
            }
        )

    def check_spec(self, spec: Mapping[str, Any]) -> ProfileType:
        """Validate a spec, and return its type.

        :raises vobjects.clustering.errors.InvalidSpec: the spec is not valid
        """
        profile_type, properties = self._read(spec)
        profile_type.check_properties(properties)
        return profile_type

    def check_operation(
        self, type_name: str, operation: str, parameters: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Validate an operation, and return its converted parameters.

        :raises vobjects.clustering.errors.BadRequest: the type does not
            support the operation, or the parameters are not valid
        """
        profile_type = self.get(type_name)
        definition = profile_type.operations.get(operation)
        if definition is None:
            near = suggestions.nearest(operation, profile_type.operations)
            question = f'Did you mean {near!r}? ' if near else ''
            names = ', '.join(profile_type.operations) or 'none'
            raise errors.BadRequest.advised(
                f'The requested operation {exceptions.cut(operation)} is not'
                f" supported by the profile type '{type_name}'.",
                f'{question}Supported operations: {names}.',
            )
        try:
            return spec_schema.resolve(
                definition.parameters,
                parameters,
                spec_schema.PARAMETERS,
                spec_schema.PARAMETER_TYPES,
            )
        except errors.InvalidSpec as error:
            message = error.compat_message
            if message:
                message = f'{message.rstrip(".")}.'
            raise errors.InvalidSpec(error.message, message) from None
