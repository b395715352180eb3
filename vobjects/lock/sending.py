# SPDX-License-Identifier: Apache-2.0
"""How services convert an object by hand for an older peer, and send it.

Most write ``obj_make_compatible``, and give oslo.versionedobjects the version
of each type that the peer knows. Ironic's serializer calls conversions of
Ironic's own instead, and Neutron tells the version of the object itself only.

Nothing of this package is imported: :mod:`vobjects.testing.exchange` loads
this file where only a service and oslo.versionedobjects are installed.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

#: The method in which a class converts by hand.
USUAL, IRONIC = 'obj_make_compatible', '_convert_to_version'

#: Services that tell a peer's version of the object sent, and of nothing
#: inside of it.
WITHOUT_MANIFEST = {'neutron'}


def method_of(cls: Any) -> str:
    """Return the name of the method in which a class converts by hand."""
    return IRONIC if hasattr(cls, 'convert_to_version') else USUAL


def primitive(
    obj: Any, version: str, manifest: Mapping[str, str] | None
) -> Any:
    """Return what a service itself would send.

    :param version: of the object's type that the peer knows
    :param manifest: of the types inside of it; None: as they are
    """
    if method_of(type(obj)) == IRONIC:
        # What a release that is pinned knows. It changes the object.
        obj = copy.deepcopy(obj)
        obj.convert_to_version(version)
        return obj.obj_to_primitive()
    if type(obj).__module__.partition('.')[0] in WITHOUT_MANIFEST:
        return obj.obj_to_primitive(target_version=version)
    return obj.obj_to_primitive(
        target_version=version, version_manifest=manifest
    )
