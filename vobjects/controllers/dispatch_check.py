# SPDX-License-Identifier: Apache-2.0
"""Check the versions of all handlers of a service, at startup."""

from __future__ import annotations

import sys

from vobjects import exceptions
from vobjects.controllers.dispatch import (
    Function,
    VersionedFunction,
    location_of,
    open_functions,
    versioned_of,
)
from vobjects.controllers.method_spec import spec_of
from vobjects.microversions.version_policy import VersionPolicy


def check(policy: VersionPolicy, *handlers: Function) -> None:
    """Reject ranges that are probably mistakes; call it at startup.

    :param policy: version policy of the service
    :param handlers: handlers that the service routes to; their modules are
        searched for hidden functions
    :raises vobjects.exceptions.DeclarationError: a range lies outside the
        policy's, there is a gap between two ranges, a plain function of the
        same name or a wrapper hides another one, or a plain function lacks a
        schema at some version
    """
    for handler in handlers:
        versioned = versioned_of(handler)
        if versioned is not None:
            for entry in versioned.functions:
                if entry.first > policy.maximum or (
                    entry.last and entry.last < policy.minimum
                ):
                    raise exceptions.DeclarationError(
                        f'{versioned.__qualname__}: {entry} is unreachable;'
                        f' the service serves {policy.minimum} to'
                        f' {policy.maximum}'
                    )
            for before, after in versioned.functions.gaps():
                raise exceptions.DeclarationError(
                    f'{versioned.__qualname__}: no function serves the'
                    f' versions between {before} and {after}'
                )
        else:
            spec_of(handler).check(
                policy.minimum, policy.maximum, location_of(handler)
            )
    modules = {handler.__module__ for handler in handlers}
    for (module, qualname), versioned in open_functions.items():
        if module in modules and _is_hidden(module, qualname, versioned):
            first = next(iter(versioned.functions))
            raise exceptions.DeclarationError(
                f'{module}.{qualname}: {first} is hidden'
                ' by another object of the same name; decorate that one'
                ' with api_version too, or write api_version above the'
                ' decorator that wraps it'
            )


def _is_hidden(
    module: str, qualname: str, versioned: VersionedFunction
) -> bool:
    if qualname.rpartition('.')[0].endswith('<locals>'):
        return False  # held by the caller of the enclosing function
    # In a class, only a static method is still open after the class body.
    found: object = sys.modules.get(module)
    for name in qualname.split('.'):
        found = getattr(found, name, None)
    return found is not versioned
