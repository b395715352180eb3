# SPDX-License-Identifier: Apache-2.0
"""Base class of Senlin's requests: each field declares its version.

Modules of requests import this module in place of ``senlin.objects.base``.
"""

import functools

from senlin.objects import base

import vobjects
from vobjects.versions import Version

#: A field of a version. Senlin drops what an older request must not contain.
added = functools.partial(vobjects.added, on_drop='ignore')


class SenlinObject(base.SenlinObject, vobjects.Request):
    """A request."""

    # Senlin's schema of the request rejects them, with its own message.
    UNKNOWN_FIELDS = 'keep'

    # Senlin's tests set attributes that are not fields.
    __setattr__ = object.__setattr__

    @classmethod
    def normalize_req(cls, name, req, key=None):
        """Return the primitive of a request, with the newest version.

        The original labels the object in it with the version of the request,
        which lacks fields that Senlin accepts.
        """
        primitive = super().normalize_req(name, req, key)
        if key is not None:
            inner = primitive[f'{cls.OBJ_SERIAL_NAMESPACE}.data'][key]
            body = cls.obj_class_from_name(f'{name}Body')
            inner[f'{cls.OBJ_SERIAL_NAMESPACE}.version'] = body.VERSION
        return primitive

    @classmethod
    def find_version(cls, context):
        """Return the object version at the API version of a request."""
        return cls.version_at(Version.parse(context.api_version))


class SenlinObjectRegistry:
    """Registers requests, with the checks of the library."""

    @staticmethod
    def register(cls):
        """Register a class of requests."""
        vobjects.register(cls)
        base.SenlinObjectRegistry().registration_hook(cls, 0)
        return cls
