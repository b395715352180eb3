# SPDX-License-Identifier: Apache-2.0
"""The declarations that decorators attach to a controller's method.

Tools read the :class:`MethodSpec` of a method with :func:`spec_of`. The
decorators are in :mod:`~vobjects.controllers.decorators`; write
``api_version`` above all of them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from vobjects import exceptions
from vobjects.controllers.ranges import RangeMap
from vobjects.microversions import errors
from vobjects.versions import Version

if TYPE_CHECKING:
    # Needed for annotations only: importing jsonschema takes long.
    from vobjects.controllers.compiled_schema import CompiledSchema

_Schemas: TypeAlias = 'RangeMap[CompiledSchema]'

#: Attribute of a wrapped method: its :class:`MethodSpec`.
ATTRIBUTE = '__vobjects_spec__'


@dataclasses.dataclass(frozen=True, slots=True)
class Removal:
    """First version without a method, and the reason."""

    version: Version
    reason: str

    def error(self, name: str) -> errors.MethodRemoved:
        """Return the error for a request that calls the method.

        :param name: the method, for people
        """
        return errors.MethodRemoved(name, self.version, self.reason)


class MethodSpec:
    """The declarations of a method.

    :ivar request_schemas: schemas of the request body
    :ivar query_schemas: schemas of the query
    :ivar response_schemas: schemas of the response body
    :ivar success_statuses: status of a success
    :ivar error_statuses: statuses of errors
    :ivar removal: version in which the method was removed, and why
    """

    def __init__(self) -> None:
        self.request_schemas: _Schemas = RangeMap('request schema')
        self.query_schemas: _Schemas = RangeMap('query schema')
        self.response_schemas: _Schemas = RangeMap('response schema')
        self.success_statuses: RangeMap[int] = RangeMap('success status')
        self.error_statuses: RangeMap[frozenset[int]] = RangeMap(
            'list of errors'
        )
        self.removal: Removal | None = None

    def check(self, first: Version, last: Version, owner: str) -> None:
        """Reject declarations that do not match the versions of a method.

        :param first: first version of the method
        :param last: last version; null: no end
        :param owner: the method and its location, for messages
        :raises vobjects.exceptions.DeclarationError: a gap or a mismatch; the
            message names both locations
        """
        if self.removal is not None:
            end = self.removal.version
            if end <= first:
                raise exceptions.DeclarationError(
                    f'{owner} begins at {first}, but is removed at {end}'
                )
            if end.minor:
                before = Version(end.major, end.minor - 1)
                last = min(last, before) if last else before
        for declarations in (
            self.request_schemas,
            self.query_schemas,
            self.response_schemas,
            self.success_statuses,
            self.error_statuses,
        ):
            declarations.check_covers(first, last, owner)


def spec_of(function: Callable[..., Any]) -> MethodSpec:
    """Return the declarations of a method; empty without decorators."""
    spec: MethodSpec | None = getattr(function, ATTRIBUTE, None)
    return spec or MethodSpec()


def success_status(
    function: Callable[..., Any], version: Version, default: int = 200
) -> int:
    """Return the status of a method's success at a version."""
    return spec_of(function).success_statuses.at(version) or default
