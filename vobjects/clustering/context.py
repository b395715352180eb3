# SPDX-License-Identifier: Apache-2.0
"""Who asks: the request context that travels with every RPC."""

from __future__ import annotations

from typing import Any

from oslo_context import context as oslo_context


class RequestContext(oslo_context.RequestContext):
    """User, project, roles and request id of one request."""


def from_dict(values: dict[str, Any]) -> RequestContext:
    """Rebuild the context that :meth:`RequestContext.to_dict` gave.

    :param values: as received; keys this build does not know are ignored
    """
    context: RequestContext = RequestContext.from_dict(values)
    return context
