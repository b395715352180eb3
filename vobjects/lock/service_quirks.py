# SPDX-License-Identifier: Apache-2.0
"""Send objects to older peers as services with manual conversions do.

Most services implement ``obj_make_compatible``, and pass
oslo.versionedobjects the peer's version of each type. Ironic's
serializer calls Ironic's own conversions instead, and Neutron passes only the
version of the object itself.

This module imports nothing from this package, because
``vobjects_releases.transfer_script`` loads it where only a service and
oslo.versionedobjects are installed.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

#: Methods in which classes convert by hand.
OVO_METHOD, IRONIC_METHOD = 'obj_make_compatible', '_convert_to_version'

#: Services that pass a peer's version of the object sent, but not of the
#: objects inside it.
WITHOUT_MANIFEST = {'neutron'}


def conversion_method(cls: Any) -> str:
    """Return the name of the method in which a class converts by hand."""
    return IRONIC_METHOD if hasattr(cls, 'convert_to_version') else OVO_METHOD


def to_primitive(
    obj: Any, version: str, manifest: Mapping[str, str] | None
) -> Any:
    """Return the primitive that a service itself would send.

    :param version: the version of the object's type that the peer knows
    :param manifest: versions of the types inside it; None: their own
    """
    if conversion_method(type(obj)) == IRONIC_METHOD:
        # As with a pinned release. The conversion changes the object.
        obj = copy.deepcopy(obj)
        obj.convert_to_version(version)
        return obj.obj_to_primitive()
    if type(obj).__module__.partition('.')[0] in WITHOUT_MANIFEST:
        return obj.obj_to_primitive(target_version=version)
    return obj.obj_to_primitive(
        target_version=version, version_manifest=manifest
    )
