# SPDX-License-Identifier: Apache-2.0
"""The request context that travels with every RPC call."""

from __future__ import annotations

from typing import Any

from oslo_context import context as oslo_context


class RequestContext(oslo_context.RequestContext):
    """User, project, roles and ID of a request.

    :ivar denied_actions: the actions that a receiver must not start for the
        caller or its owner; the API sets it in requests about receivers
    :ivar asks_owner: whether the API asks for the credentials of a receiver's
        owner, in its ``actor``
    """

    def __init__(
        self,
        *arguments: Any,
        denied_actions: Any = (),
        asks_owner: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(*arguments, **options)
        self.denied_actions: list[str] = list(denied_actions)
        self.asks_owner = asks_owner

    def to_dict(self) -> dict[str, Any]:
        """Return the context for the wire."""
        values: dict[str, Any] = super().to_dict()
        if self.denied_actions:
            values['denied_actions'] = self.denied_actions
        if self.asks_owner:
            values['asks_owner'] = True
        return values


def from_dict(values: dict[str, Any]) -> RequestContext:
    """Rebuild a context from the result of :meth:`RequestContext.to_dict`.

    :param values: the mapping as received; keys that this release does not
        know are ignored
    """
    context: RequestContext = RequestContext.from_dict(
        values,
        denied_actions=values.get('denied_actions') or (),
        asks_owner=bool(values.get('asks_owner')),
    )
    return context
