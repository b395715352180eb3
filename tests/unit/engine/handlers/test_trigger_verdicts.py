# SPDX-License-Identifier: Apache-2.0
"""A receiver starts an action exactly if its owner may start it directly."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy

from api import policy, routes
from engine.db import models
from engine.handlers import triggers
from tests.unit.api.client import ApiClient, Response
from tests.unit.engine import (
    engine_harness,
    in_process_api,
    request_helpers,
)
from tests.unit.engine.engine_harness import Engine, Harness
from tests.unit.engine.handlers.test_messages import post
from vobjects.clustering.requests import policies, receivers

DELETION_POLICY = {'type': 'senlin.policy.deletion', 'version': '1.0'}

#: Valid parameters of each action.
VALID: dict[str, dict[str, Any]] = {
    'CLUSTER_DELETE': {},
    'CLUSTER_UPDATE': {'name': 'd'},
    'CLUSTER_ADD_NODES': {'nodes': ['free']},
    'CLUSTER_DEL_NODES': {'nodes': ['member']},
    'CLUSTER_RESIZE': {'adjustment_type': 'EXACT_CAPACITY', 'number': 2},
    'CLUSTER_CHECK': {'delete_check_action': True},
    'CLUSTER_RECOVER': {'operation': 'REBOOT'},
    'CLUSTER_REPLACE_NODES': {'nodes': {'member': 'free'}},
    'CLUSTER_SCALE_OUT': {'count': 1},
    'CLUSTER_SCALE_IN': {'count': 1},
    'CLUSTER_ATTACH_POLICY': {'policy_id': 'detached'},
    'CLUSTER_DETACH_POLICY': {'policy_id': 'attached'},
    'CLUSTER_UPDATE_POLICY': {'policy_id': 'attached', 'enabled': False},
    'CLUSTER_OPERATION': {'operation': 'reboot'},
}

#: Values that are wrong for most parameters: names of resources that do not
#: exist, belong to another project or are in another state, numbers outside of
#: limits, and other types. Text that stands for a number or for true is not
#: among them: the query of a webhook's URL has no other values.
VALUES: tuple[Any, ...] = (
    -1,
    6,
    2**31,
    'theirs',
    'x' * 256,
    ['theirs'],
    ['free', 'free'],
    {},
    {'member': 'theirs'},
    {'status': 'ERROR', 'type': 'none', 'node.name.format': '..'},
)


def variants(action: str) -> list[dict[str, Any]]:
    """Return parameters to try for an action."""
    valid = VALID[action]
    names = triggers.REQUESTS[action].fields.keys() - {
        'identity',
        'refuse_conflict',
        'params' if action == 'CLUSTER_CHECK' else '',
    }
    return [
        valid,
        *({k: v for k, v in valid.items() if k != name} for name in valid),
        *({**valid, name: v} for name in sorted(names) for v in VALUES),
    ]


@pytest.fixture
def engine(harness: Harness) -> Engine:
    """An engine with the resources that :data:`VALUES` names."""
    engine = harness.engine()
    theirs = engine_harness.request_context('theirs')
    request_helpers.create_cluster(engine, 1, max_size=5)
    request_helpers.create_node(engine, name='free')
    for name in ('attached', 'detached'):
        engine.call(
            policies.PolicyCreateRequest(name=name, spec=DELETION_POLICY)
        )
    engine.call(
        policies.ClusterAttachPolicyRequest(identity='c', policy_id='attached')
    )
    request_helpers.create_profile(engine, name='theirs', context=theirs)
    engine.run(
        policies.PolicyCreateRequest(name='theirs', spec=DELETION_POLICY),
        theirs,
    )

    def rename(session: Any) -> None:
        (node,) = session.query(models.Node).where(
            models.Node.cluster_id.is_not(None), models.Node.cluster_id != ''
        )
        node.name = 'member'

    harness.database.write(rename)
    return engine


@pytest.fixture
def api(engine: Engine) -> ApiClient:
    return in_process_api.connect(
        in_process_api.EngineClient(engine), in_process_api.make_conf()
    )


class Starter:
    """Start actions directly or by receivers, and delete them again."""

    def __init__(
        self, api: ApiClient, engine: Engine, harness: Harness
    ) -> None:
        self._api, self._engine, self._harness = api, engine, harness
        self._receiver = self._create({'type': 'message'}).json['receiver']

    def _create(self, values: dict[str, Any]) -> Response:
        return self._api(
            'POST', '/v1/receivers', {'receiver': {'name': 'r', **values}}
        )

    def directly(self, action: str, params: dict[str, Any]) -> str:
        """Return the type of the action that a direct request starts."""
        route = next(
            item
            for item in routes.ROUTES
            if item.request is triggers.REQUESTS[action]
        )
        body: Any = dict(params)
        if route.params.key_field:
            operation = body.pop(route.params.key_field, None)
            if not isinstance(operation, str):
                return ''
            body = {operation: body}
        elif route.params.key:
            body = {route.params.key: body}
        path = route.path.format(identity='c')
        self._api(route.method, path, body or None, version='1.14')
        return self._started()

    def by_webhook(self, action: str, params: dict[str, Any]) -> str:
        """Return what a receiver with the parameters starts."""
        response = self._create(
            {
                'type': 'webhook',
                'cluster_id': 'c',
                'action': action,
                'params': params,
            }
        )
        if response.status != 201:
            return ''
        identity = response.json['receiver']['id']
        path = f'/v1/webhooks/{identity}/trigger'
        self._api('POST', path, environ={'QUERY_STRING': 'V=2'})
        self._api('DELETE', f'/v1/receivers/{identity}')
        return self._started()

    def by_message(self, action: str, params: dict[str, Any]) -> str:
        """Return what a message starts."""
        shown = self._engine.call(
            receivers.ReceiverGetRequest(identity=self._receiver['id'])
        )
        body = {'cluster': 'c', 'action': action, 'params': params}
        post(self._engine, shown, body)
        path = f'/v1/receivers/{shown.id}/notify'
        assert self._api('POST', path).status == 204
        return self._started()

    def _started(self) -> str:
        def take(session: Any) -> str:
            rows = session.scalars(
                sqlalchemy.select(models.Action).where(
                    models.Action.status == 'READY'
                )
            ).all()
            for row in rows:
                session.delete(row)
            return ', '.join(row.action for row in rows)

        started: str = self._harness.database.write(take)
        return started


@pytest.mark.parametrize('action', triggers.REQUESTS)
def test_receivers_start_what_direct_requests_start(
    api: ApiClient, engine: Engine, harness: Harness, action: str
) -> None:
    starter = Starter(api, engine, harness)
    tried = variants(action)
    verdicts = [
        (
            params,
            starter.directly(action, params),
            starter.by_webhook(action, params),
            starter.by_message(action, params),
        )
        for params in tried
    ]
    assert verdicts[0][1:] == (action,) * 3
    assert [row for row in verdicts if len(set(row[1:])) > 1] == []


@pytest.mark.parametrize('action', triggers.REQUESTS)
def test_rule_for_a_receiver_is_that_of_the_direct_request(
    action: str,
) -> None:
    rules = {
        route.rule
        for route in routes.ROUTES
        if route.request is triggers.REQUESTS[action]
    }
    assert rules == {policy.RECEIVER_ACTIONS[action]}
