# SPDX-License-Identifier: Apache-2.0
"""The names of error classes, which cross the bus.

A server sends the name of an error's class, and the peer rebuilds the error
from it. A process of an earlier release cannot rebuild a class that it does
not have, and then takes the error for a failure of the server. Therefore, none
of these names may change, and a server may raise a new one only to a caller
whose manifest shows that it knows the name.
"""

from __future__ import annotations

import importlib
import inspect

import pytest

from vobjects.rpc import transport

NAMES = {
    'vobjects.exceptions': """
        ConversionError DeadlinePassed DeclarationError FieldsMissing
        FleetError InvalidVersion LossyDowngrade NoCapablePeer NoLivePeer
        NoSuchField NotPickled ServiceError TlsConfigError UnknownField
        UnknownManifest Unreachable UnsupportedType VobjectsError
        """,
}


def error_names(module: str) -> list[str]:
    """Return the names by which a module's own errors can be rebuilt."""
    return sorted(
        name
        for name, value in vars(importlib.import_module(module)).items()
        if inspect.isclass(value)
        and issubclass(value, Exception)
        and value.__module__ == module
    )


@pytest.mark.parametrize('module', NAMES)
def test_errors_keep_their_names(module: str) -> None:
    assert error_names(module) == NAMES[module].split()


def test_each_module_of_this_package_is_listed() -> None:
    assert {
        name for name in transport.ERROR_MODULES if name.startswith('vobjects')
    } == NAMES.keys()
