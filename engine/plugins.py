# SPDX-License-Identifier: Apache-2.0
"""Registries of plug-in types: profile types and policy types, by name."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any, Generic, Protocol, Self, TypeVar, cast

import stevedore.exception
from stevedore import driver, extension

from engine import spec_schema
from engine.spec_schema import Property
from vobjects import exceptions, suggestions
from vobjects.clustering import errors, run


def load(namespace: str, name: str, option: str, *arguments: Any) -> Any:
    """Return an instance of the plug-in that an option names.

    :param namespace: the group of its entry point
    :param option: the option, for the message
    :param arguments: those of the plug-in's class
    :raises vobjects.exceptions.VobjectsError: no such plug-in is installed
    """
    try:
        manager: driver.DriverManager[Any] = driver.DriverManager(
            namespace, name, invoke_on_load=True, invoke_args=arguments
        )
    except stevedore.exception.NoMatches:
        if name in run.INSTALLATIONS:
            advice = f'run: {run.INSTALLATIONS[name]}'
        else:
            names = extension.ExtensionManager[Any](namespace).names()
            advice = f'there are {", ".join(sorted(names))}'
        raise exceptions.VobjectsError(
            f'{option}: there is no {name}; {advice}'
        ) from None
    return manager.driver


class SpecType(Protocol):
    """A type and version of specs."""

    name: str
    version: str
    #: version -> [{'status': ..., 'since': ...}]
    support_status: Mapping[str, list[dict[str, str]]]
    properties: spec_schema.Schema


Kind = TypeVar('Kind', bound=SpecType)


class Registry(Generic[Kind]):
    """The installed types, by ``NAME-VERSION``."""

    #: Group of entry points, and the word for such a type in messages.
    NAMESPACE: str
    NOUN: str
    #: Schema of a spec's top level.
    ITEMS: spec_schema.Schema = {
        'type': Property('String', 'Name of the type.'),
        'version': Property('String', 'Version of the type.'),
        'properties': Property('Map', 'Properties; see the type.'),
    }

    def __init__(self, types: Mapping[str, Kind]) -> None:
        self._types = dict(sorted(types.items()))

    @classmethod
    def load(cls) -> Self:
        """Load the installed types.

        :raises Exception: any error that a plug-in raises while loading
        """

        def raise_error(manager: Any, entry_point: Any, error: Any) -> None:
            raise error

        manager: extension.ExtensionManager[Any] = extension.ExtensionManager(
            cls.NAMESPACE,
            invoke_on_load=True,
            on_load_failure_callback=raise_error,
        )
        return cls({item.name: cast(Kind, item.obj) for item in manager})

    def all(self) -> list[Kind]:
        """Return the types, sorted by name."""
        return list(self._types.values())

    def summaries(self) -> list[dict[str, Any]]:
        """Return name, version and support status of each type."""
        return [
            {
                'name': kind.name,
                'version': kind.version,
                'support_status': {
                    kind.version: kind.support_status[kind.version]
                },
            }
            for kind in self.all()
        ]

    def details(self, type_name: str) -> dict[str, Any]:
        """Return a type with the schema of its properties; see :meth:`get`."""
        kind = self.get(type_name)
        return {
            'name': type_name,
            'schema': spec_schema.render(kind.properties),
            'support_status': dict(kind.support_status),
        }

    def get(self, type_name: str) -> Kind:
        """Return a type by its name with version.

        :raises vobjects.clustering.errors.ResourceNotFound: the type does not
            exist
        """
        try:
            return self._types[type_name]
        except KeyError:
            raise errors.ResourceNotFound.advised(
                self._not_found(type_name), self._suggestion(type_name)
            ) from None

    def properties_of(
        self, type_name: str, spec: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the properties of a stored spec, converted to their types.

        :raises vobjects.clustering.errors.InvalidSpec: a property is invalid
        :raises vobjects.clustering.errors.ResourceNotFound: the type does not
            exist
        """
        kind = self.get(type_name)
        return spec_schema.resolve(
            kind.properties, spec.get('properties') or {}
        )

    def check_spec(self, spec: Mapping[str, Any]) -> Kind:
        """Validate a spec, and return its type.

        :param spec: a map with the items of :attr:`ITEMS`
        :raises vobjects.clustering.errors.InvalidSpec: the spec is invalid
        :raises vobjects.clustering.errors.ResourceNotFound: the type does not
            exist
        """
        return self._read(spec)[0]

    def _read(self, spec: Mapping[str, Any]) -> tuple[Kind, dict[str, Any]]:
        """Return the type of a spec, and its converted properties.

        :raises vobjects.clustering.errors.InvalidSpec: the spec is invalid
        :raises vobjects.clustering.errors.ResourceNotFound: the type does not
            exist
        """
        for key in ('type', 'version'):
            if spec.get(key) is None:
                raise errors.InvalidSpec(
                    f'spec.{key} is required',
                    f"The '{key}' key is missing from the provided spec map.",
                )
        for key in spec:
            if key not in self.ITEMS:
                raise spec_schema.unknown(key, self.ITEMS, 'spec')
        properties = spec.get('properties', {})
        items = spec_schema.resolve(
            self.ITEMS, {**spec, 'version': _version(spec['version'])}, 'spec'
        )
        type_name = f'{items["type"]}-{items["version"]}'
        spec_type = self._types.get(type_name)
        if spec_type is None:
            message = self._not_found(type_name)
            raise errors.ResourceNotFound(
                f'spec: {message} {self._suggestion(type_name)}', message
            )
        return spec_type, spec_schema.resolve(spec_type.properties, properties)

    def _not_found(self, type_name: str) -> str:
        return (
            f'The {self.NOUN}_type {exceptions.cut(type_name)} could not be'
            ' found.'
        )

    def _suggestion(self, type_name: str) -> str:
        """Return a sentence that lists the available types."""
        near = suggestions.nearest(type_name, self._types)
        question = f'Did you mean {near!r}? ' if near else ''
        return f'{question}Available types: {", ".join(self._types)}.'


def type_name(kind: SpecType) -> str:
    """Return the name of a type with its version."""
    return f'{kind.name}-{kind.version}'


def _version(value: Any) -> Any:
    # YAML and JSON parse an unquoted 1.0 as a number.
    if isinstance(value, float | str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        with contextlib.suppress(OverflowError):
            return float(value)
    raise errors.InvalidSpec(
        'spec.version: must be a version such as "1.0", not'
        f' {exceptions.cut(value)}'
    )
