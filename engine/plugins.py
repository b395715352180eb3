# SPDX-License-Identifier: Apache-2.0
"""Types that plug-ins bring, of profiles and of policies, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, Protocol, Self, TypeVar, cast

from stevedore import extension

from engine.profiles import schema
from vobjects import exceptions
from vobjects.clustering import errors


class SpecType(Protocol):
    """What specs of a type and version look like."""

    name: str
    version: str
    #: version -> [{'status': ..., 'since': ...}]
    support_status: Mapping[str, list[dict[str, str]]]
    properties: schema.Schema


Kind = TypeVar('Kind', bound=SpecType)


class Registry(Generic[Kind]):
    """The types of this build, by ``NAME-VERSION``."""

    #: The group of entry points, and what users call such a type.
    NAMESPACE: str
    WORD: str

    def __init__(self, types: Mapping[str, Kind]) -> None:
        self._types = dict(sorted(types.items()))

    @classmethod
    def load(cls) -> Self:
        """Collect those that are installed.

        :raises Exception: what a plug-in raised that cannot be loaded
        """

        def refuse(manager: Any, entry_point: Any, error: Any) -> None:
            raise error

        manager: extension.ExtensionManager[Any] = extension.ExtensionManager(
            cls.NAMESPACE,
            invoke_on_load=True,
            on_load_failure_callback=refuse,
        )
        return cls({found.name: cast(Kind, found.obj) for found in manager})

    def all(self) -> list[Kind]:
        """Return the types, sorted by name."""
        return list(self._types.values())

    def get(self, type_name: str) -> Kind:
        """Return a type by its name with version.

        :raises vobjects.clustering.errors.ResourceNotFound: there is none
        """
        try:
            return self._types[type_name]
        except KeyError:
            raise errors.ResourceNotFound(self._no_type(type_name)) from None

    def check_spec(self, spec: Mapping[str, Any]) -> Kind:
        """Return the type of a spec that fits it.

        :param spec: ``type``, ``version`` and ``properties``
        :raises vobjects.clustering.errors.InvalidSpec: it does not fit
        :raises vobjects.clustering.errors.ResourceNotFound: there is no such
            type
        """
        for key in spec:
            if key not in ('type', 'version', 'properties'):
                raise errors.InvalidSpec(
                    f'spec: there is no {exceptions.cut(key)}; there are'
                    ' type, version, properties',
                    schema.unknown(key),
                )
        for key in ('type', 'version'):
            if spec.get(key) is None:
                raise errors.InvalidSpec(
                    f'spec.{key} is required',
                    f"The '{key}' key is missing from the provided spec map.",
                )
        version = _version(spec['version'])
        wanted = f'{spec["type"]}-{version}'
        found = self._types.get(wanted)
        if found is None:
            is_text = isinstance(spec['type'], str)
            refuse = errors.ResourceNotFound if is_text else errors.InvalidSpec
            raise refuse(
                f'spec: there is no {self.WORD} type'
                f' {exceptions.cut(spec["type"])} of version'
                f' {exceptions.cut(version)}; there are'
                f' {", ".join(self._types)}',
                self._no_type(wanted),
            )
        schema.validate(found.properties, spec.get('properties', {}))
        return found

    def _no_type(self, type_name: str) -> str:
        shown = exceptions.cut(type_name)
        return f'The {self.WORD}_type {shown} could not be found.'


def type_name(kind: SpecType) -> str:
    """Return the name of a type with its version."""
    return f'{kind.name}-{kind.version}'


def _version(value: Any) -> Any:
    # YAML and JSON make a number of an unquoted 1.0.
    is_number = isinstance(value, float | int)
    if isinstance(value, bool) or not (is_number or isinstance(value, str)):
        raise errors.InvalidSpec(
            f'spec.version: {exceptions.cut(value)} is not a version'
        )
    return float(value) if isinstance(value, int) else value
