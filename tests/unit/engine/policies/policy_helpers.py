# SPDX-License-Identifier: Apache-2.0
"""Create, attach and exercise policies through the request handlers."""

from __future__ import annotations

from typing import Any

from tests.unit.engine.engine_harness import Engine
from vobjects.clustering.requests import actions, policies


def create_policy(
    engine: Engine,
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
    policy_id: str = engine.call(request).id
    return policy_id


def attach(engine: Engine, name: str = 'pol', **fields: Any) -> Any:
    """Attach a policy to cluster c, and return the action after it ended."""
    return _run_request(
        engine,
        policies.ClusterAttachPolicyRequest(
            identity='c', policy_id=name, **fields
        ),
    )


def detach(engine: Engine, name: str = 'pol') -> Any:
    """Detach a policy from cluster c, and return the action after it ended."""
    return _run_request(
        engine,
        policies.ClusterDetachPolicyRequest(identity='c', policy_id=name),
    )


def enable(engine: Engine, name: str = 'pol', *, on: bool) -> Any:
    """Enable or disable a policy of cluster c; return the action."""
    return _run_request(
        engine,
        policies.ClusterUpdatePolicyRequest(
            identity='c', policy_id=name, enabled=on
        ),
    )


def scale(engine: Engine, request_type: Any, **fields: Any) -> Any:
    """Change cluster c, and return the action after it ended."""
    return _run_request(engine, request_type(identity='c', **fields))


def _run_request(engine: Engine, request: Any) -> Any:
    accepted = engine.run(request)
    return engine.call(actions.ActionGetRequest(identity=accepted.action))
