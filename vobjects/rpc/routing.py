# SPDX-License-Identifier: Apache-2.0
"""Find the servers that support more than all servers do.

A type opts in with ``ROUTE``. A call that needs a newer version of it than
the cap goes to the servers of one manifest that has the version. The name of a
server on its topic is the digest of its manifest, so no other server can
receive the call.

A call needs the versions that its microversion shows, of its request and of
the types in its response. Fields that a service accepts early are needed only
by requests that contain them.
"""

from __future__ import annotations

import functools
import random
from typing import Any

from vobjects import exceptions
from vobjects.objects.codec.override_detection import newest_class
from vobjects.objects.manifest import Manifest, local_types, within
from vobjects.rpc.fleet import Group, View, supports

#: The need of a call that every server can handle.
NOTHING = Manifest({})

#: Separate from the generator of the application, as in membership.
_RANDOM = random.Random()  # noqa: S311


def is_used() -> bool:
    """Return whether a registered type has opted in."""
    return any(getattr(cls, 'ROUTE', 'any') != 'any' for cls in local_types())


@functools.lru_cache(maxsize=1024)
def needs(
    cls: Any,
    cap: Manifest,
    versions: Manifest,
    shown: Manifest | None,
) -> Manifest:
    """Return the versions above the cap that a call needs.

    :param cls: type of the request
    :param versions: manifest of the microversion
    :param shown: the part with the types in the response; None: not known
    """
    used = versions if shown is None else {**within(cls, versions), **shown}
    return Manifest(
        {
            name: version
            for name, version in used.items()
            if _declaration(name, 'ROUTE', 'any') != 'any'
            and not _declaration(name, 'EARLY_VERSION_MAP', {})
            and not supports(cap, {name: version})
        }
    )


def with_value(needs: Manifest, error: exceptions.ConversionError) -> Manifest:
    """Return needs and the version that holds the value of a request.

    :param error: the cap cannot represent the request
    :returns: the needs as they are, if the type has not opted in
    """
    name = getattr(error, 'type_name', '')
    if _declaration(name, 'ROUTE', 'any') == 'any':
        return needs
    return Manifest({**needs, name: getattr(error, 'from_version', '1.0')})


def choose(view: View, topic: str, needs: Manifest) -> Manifest:
    """Return the manifest of servers that support the needs, at random.

    Each of these servers has the same chance.

    :raises vobjects.exceptions.NoCapablePeer: there is none
    """
    groups: tuple[Group, ...] = view.capable(topic, needs)
    if not groups:
        raise exceptions.NoCapablePeer(
            ', '.join(f'{name} {version}' for name, version in needs.items())
        )
    counts = [group.count for group in groups]
    return _RANDOM.choices(groups, counts)[0].manifest


def may_wait(needs: Manifest) -> bool:
    """Return whether a call waits for a server that supports the needs."""
    return all(
        _declaration(name, 'ROUTE', 'any') == 'capable-wait' for name in needs
    )


def _declaration(name: str, attribute: str, default: object) -> object:
    return getattr(newest_class(name), attribute, default)
