# SPDX-License-Identifier: Apache-2.0
"""Settings and components that the handlers of all routes share."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from api import authentication, policy
from vobjects.microversions import discovery
from vobjects.microversions.version_policy import VersionPolicy
from vobjects.rpc import byte_budget
from vobjects.versions import Maximum

if TYPE_CHECKING:
    from vobjects.rpc.client import Client


@dataclasses.dataclass(frozen=True)
class Service:
    """Settings and components that all handlers share.

    :ivar versions: version policy of the service
    :ivar client: sends requests to engines
    :ivar maximum: returns the highest microversion served now; raises
        vobjects.exceptions.NoLivePeer
    :ivar max_json_size: maximum bytes of a JSON field
    :ivar max_limit: maximum items in a list page
    :ivar lists: bytes that responses to lists may have at a time
    :ivar strict_requests: whether to reject requests that are accepted only
        for compatibility with Senlin
    :ivar public_url: root URL for links; if empty, the URL of the request
    """

    versions: VersionPolicy
    client: Client
    maximum: Callable[[], Maximum]
    authenticate: authentication.Authenticate
    enforcer: policy.Enforcer
    max_body_size: int
    max_json_size: int
    max_limit: int
    lists: byte_budget.ByteBudget
    strict_requests: bool = False
    public_url: str = ''

    def root_url(self, environ: Mapping[str, Any]) -> str:
        """Return the root URL of the API as the client sees it."""
        return self.public_url or discovery.base_url(environ)
