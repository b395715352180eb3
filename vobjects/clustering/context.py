# SPDX-License-Identifier: Apache-2.0
"""The request context that travels with every RPC call."""

from __future__ import annotations

from typing import Any

from oslo_context import context as oslo_context


class RequestContext(oslo_context.RequestContext):
    """User, project, roles and ID of a request."""


def from_dict(values: dict[str, Any]) -> RequestContext:
    """Rebuild a context from the result of :meth:`RequestContext.to_dict`.

    :param values: the mapping as received; keys that this release does not
        know are ignored
    """
    context: RequestContext = RequestContext.from_dict(values)
    return context
