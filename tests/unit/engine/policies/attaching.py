# SPDX-License-Identifier: Apache-2.0
"""Short ways to have policies, and to have them act."""

from __future__ import annotations

from typing import Any

from tests.unit.engine import fleet
from vobjects.clustering.requests import actions, policies


def policy(
    engine: fleet.Engine,
    kind: str,
    name: str = 'pol',
    *,
    version: str = '1.0',
    **properties: Any,
) -> str:
    """Create a policy and return its ID."""
    spec = {
        'type': f'senlin.policy.{kind}',
        'version': version,
        'properties': properties,
    }
    request = policies.PolicyCreateRequest(name=name, spec=spec)
    found: str = engine.ask(request).id
    return found


def attach(engine: fleet.Engine, name: str = 'pol', **more: Any) -> Any:
    """Attach a policy to cluster c, and return the action when it ended."""
    return _run(
        engine,
        policies.ClusterAttachPolicyRequest(
            identity='c', policy_id=name, **more
        ),
    )


def detach(engine: fleet.Engine, name: str = 'pol') -> Any:
    """Detach a policy from cluster c, and return the action at its end."""
    return _run(
        engine,
        policies.ClusterDetachPolicyRequest(identity='c', policy_id=name),
    )


def enable(engine: fleet.Engine, name: str = 'pol', *, on: bool) -> Any:
    """Enable or disable a policy of cluster c; return the action."""
    return _run(
        engine,
        policies.ClusterUpdatePolicyRequest(
            identity='c', policy_id=name, enabled=on
        ),
    )


def scale(engine: fleet.Engine, request_type: Any, **more: Any) -> Any:
    """Change cluster c, and return the action when it ended."""
    return _run(engine, request_type(identity='c', **more))


def _run(engine: fleet.Engine, request: Any) -> Any:
    asked = engine.ask(request)
    engine.work()
    return engine.ask(actions.ActionGetRequest(identity=asked.action))
