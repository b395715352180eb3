# SPDX-License-Identifier: Apache-2.0
"""Version discovery: the public pages ``/`` and ``/v1``.

The maximum is the highest microversion that all live engines support. Without
a live engine, the response is 503.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from vobjects.microversions import discovery
from vobjects.microversions.policy import VersionPolicy
from vobjects.versions import Maximum

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

Page = Callable[['WSGIEnvironment'], tuple[int, dict[str, Any]]]


def pages(
    policy: VersionPolicy, maximum: Callable[[], Maximum], public_url: str
) -> Mapping[str, Page]:
    """Return a map of path to page; a page returns a status and a body.

    :param maximum: raises vobjects.exceptions.NoLivePeer without engines
    :param public_url: root URL for links; if empty, the URL of the request
    """

    def versions(environ: WSGIEnvironment) -> tuple[int, dict[str, Any]]:
        return policy.versions_status, discovery.versions_document(
            environ, policy, maximum(), public_url
        )

    def version(environ: WSGIEnvironment) -> tuple[int, dict[str, Any]]:
        return 200, discovery.version_document(
            environ, policy, maximum(), public_url
        )

    major = f'/{policy.major}'
    return {'': versions, '/': versions, major: version, f'{major}/': version}
