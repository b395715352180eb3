# SPDX-License-Identifier: Apache-2.0
"""Policy rules for the actions that receivers start.

A receiver starts an action only if its owner may start it directly. An engine
knows the owner and the action, and the API knows the rules: the API asks for
the owner first, and sends the names of the forbidden actions with the request.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from api import policy
from vobjects import objects
from vobjects.clustering import errors
from vobjects.clustering.context import RequestContext
from vobjects.clustering.requests import receivers

#: Sends a request to an engine, and returns its result.
Send = Callable[[RequestContext, objects.Request], Any]


def denied_actions(
    enforcer: policy.Enforcer,
    caller: RequestContext,
    receiver_id: str | None,
    send: Send,
) -> list[str]:
    """Return the actions denied to the caller or to a receiver's owner.

    :param caller: without a user if anyone may call, as for webhooks; only the
        owner's permissions count then
    :param receiver_id: None: the caller is about to create a receiver
    """
    denied = enforcer.denied_actions(caller) if caller.user_id else []
    if receiver_id is None:
        return denied
    asking = copy.copy(caller)
    asking.asks_owner = True
    try:
        receiver = send(
            asking, receivers.ReceiverGetRequest(identity=receiver_id)
        )
    except errors.ResourceNotFound:
        # The request fails, too, or an engine of an earlier release does not
        # find receivers for callers without a project.
        return denied
    if not receiver.actor:  # from an engine of an earlier release
        return denied
    owner = RequestContext(
        user_id=receiver.user,
        project_id=receiver.project,
        domain_id=receiver.domain,
        **receiver.actor,
    )
    return [*denied, *enforcer.denied_actions(owner)]
