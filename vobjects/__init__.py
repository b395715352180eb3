# SPDX-License-Identifier: Apache-2.0
"""API microversions and versioned RPC objects from one declaration.

::

    from vobjects import Request, added, fields, register


    @register
    class ClusterDeleteRequest(Request):
        VERSION = '1.1'
        VERSION_MAP = {'1.8': '1.1'}  # API microversion -> object version

        fields = {
            'identity': fields.StringField(),
            'force': added('1.1', fields.BooleanField(default=False)),
        }

Importing this package loads nothing else; each name is imported at its first
use. These packages are public, too:

=========================  ==================================================
``vobjects.fields``        field types of oslo.versionedobjects, and more
``vobjects.exceptions``    all errors of this library
``vobjects.microversions`` negotiation, schemas, errors, discovery, clients
``vobjects.controllers``   decorators for versioned methods of controllers
``vobjects.contract``      OpenAPI, history and differences of an API
``vobjects.rpc``           clients, servers and the fleet, on oslo.messaging
``vobjects.wire``          JSON of rows and lists, without creating objects
``vobjects.lock``          recorded schemas of all releases
``vobjects.testing``       pytest plug-in, emulated releases, upgrade plans
=========================  ==================================================

The remaining modules support them: ``objects`` implements the base classes,
``service`` the declaration of a service,
``versions`` the version numbers, ``cli`` the command ``vobjects``;
``field_values`` finds the objects and defaults in values of fields,
``field_types`` corrects field types of oslo.versionedobjects,
``json_depth`` bounds nested JSON; ``field_schemas`` derives the JSON schemas
of fields, and ``unregistered`` has
the errors about types that are not registered. ``sensitive`` hides secrets,
``log_lines`` escapes control characters in logs, ``metric_series`` limits the
number of series of a metric,
``phrases`` and ``suggestions`` build the texts of errors, and ``mypy_plugin``
types the attributes of fields. ``clustering`` belongs to the distribution
vobjects-clustering.

Names with a leading underscore, and :mod:`vobjects.objects.codec`, are private
and may change in any release. Until version 1.0, a minor release may change a
public name; its release note says how to adapt, and a deprecated name works
for one more minor release. The wire format of a released object version never
changes.
"""

from __future__ import annotations

import importlib

from vobjects import _lazy

# Type checkers take it for true. Importing typing would take longer than the
# rest of this module, which `python -m vobjects` imports first.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from vobjects import exceptions, fields
    from vobjects.objects.adoption import adopt
    from vobjects.objects.field_changes import added, changed, removed, renamed
    from vobjects.objects.kinds import ObjectListBase, Request, Resource
    from vobjects.objects.object import Object
    from vobjects.objects.primitives import to_json, to_json_list
    from vobjects.objects.registration import (
        register,
        registered_type,
        registered_types,
    )
    from vobjects.service import Service
    from vobjects.versions import Version

__version__: str

__all__ = [
    'Object',
    'ObjectListBase',
    'Request',
    'Resource',
    'Service',
    'Version',
    '__version__',
    'added',
    'adopt',
    'changed',
    'exceptions',
    'fields',
    'register',
    'registered_type',
    'registered_types',
    'removed',
    'renamed',
    'to_json',
    'to_json_list',
]

_lazy_attribute = _lazy.attributes(
    __name__,
    {
        'vobjects.objects.adoption': ['adopt'],
        'vobjects.objects.history': ['added', 'changed', 'removed', 'renamed'],
        'vobjects.objects.kinds': ['ObjectListBase', 'Request', 'Resource'],
        'vobjects.objects.object': ['Object'],
        'vobjects.objects.primitives': ['to_json', 'to_json_list'],
        'vobjects.objects.registration': [
            'register',
            'registered_type',
            'registered_types',
        ],
        'vobjects.service': ['Service'],
        'vobjects.versions': ['Version'],
    },
)


def __getattr__(name: str) -> Any:
    """Import a public name at its first use."""
    if name in ('exceptions', 'fields'):
        return importlib.import_module(f'{__name__}.{name}')
    if name == '__version__':
        return importlib.import_module('importlib.metadata').version(__name__)
    return _lazy_attribute(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
