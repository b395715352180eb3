# SPDX-License-Identifier: Apache-2.0
"""What a profile type must be able to do, and the types there are."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Protocol, cast

from stevedore import extension

from engine.profiles import schema
from engine.providers import base as providers
from vobjects import exceptions
from vobjects.clustering import errors

NAMESPACE = 'vobjects.profiles'


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


class Registry:
    """The profile types of this build, by ``NAME-VERSION``."""

    def __init__(self, types: Mapping[str, ProfileType]) -> None:
        self._types = dict(sorted(types.items()))

    @classmethod
    def load(cls) -> Registry:
        """Collect those that are installed.

        :raises Exception: what a plug-in raised that cannot be loaded
        """

        def refuse(manager: Any, entry_point: Any, error: Any) -> None:
            raise error

        manager: extension.ExtensionManager[Any] = extension.ExtensionManager(
            NAMESPACE,
            invoke_on_load=True,
            on_load_failure_callback=refuse,
        )
        return cls(
            {found.name: cast(ProfileType, found.obj) for found in manager}
        )

    def all(self) -> list[ProfileType]:
        """Return the types, sorted by name."""
        return list(self._types.values())

    def get(self, type_name: str) -> ProfileType:
        """Return a type by its name with version.

        :raises vobjects.clustering.errors.ResourceNotFound: there is none
        """
        try:
            return self._types[type_name]
        except KeyError:
            raise errors.ResourceNotFound(
                f'The profile_type {exceptions.cut(type_name)} could not be'
                ' found.'
            ) from None

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

    def check_spec(self, spec: Mapping[str, Any]) -> ProfileType:
        """Return the type of a spec that fits it.

        :param spec: ``type``, ``version`` and ``properties``
        :raises vobjects.clustering.errors.InvalidSpec: it does not fit
        """
        for key in spec:
            if key not in ('type', 'version', 'properties'):
                raise errors.InvalidSpec(
                    f'spec: there is no {exceptions.cut(key)}; there are'
                    ' type, version, properties'
                )
        for key in ('type', 'version'):
            if spec.get(key) is None:
                raise errors.InvalidSpec(f'spec.{key} is required')
        version = spec['version']
        # YAML and JSON make a number of an unquoted 1.0.
        is_number = isinstance(version, float | int)
        if isinstance(version, bool) or not (
            is_number or isinstance(version, str)
        ):
            raise errors.InvalidSpec(
                f'spec.version: {exceptions.cut(version)} is not a version'
            )
        if isinstance(version, int):
            version = float(version)
        found = self._types.get(f'{spec["type"]}-{version}')
        if found is None:
            raise errors.InvalidSpec(
                'spec: there is no profile type'
                f' {exceptions.cut(spec["type"])} of version'
                f' {exceptions.cut(version)}; there are'
                f' {", ".join(self._types)}'
            )
        schema.validate(found.properties, spec.get('properties', {}))
        return found
