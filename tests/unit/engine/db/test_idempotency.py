# SPDX-License-Identifier: Apache-2.0
"""A call that comes more than once is done once, and answered alike."""

from __future__ import annotations

import datetime
import json
from typing import Any

import oslo_messaging
import pytest
import sqlalchemy

from engine import service
from engine.db import idempotency, models
from tests import waiting
from tests.unit.engine import engine_harness, request_helpers
from tests.unit.engine.engine_harness import Engine, Harness
from vobjects.clustering import context
from vobjects.clustering.requests import actions, clusters, profiles
from vobjects.objects.manifest import Manifest, local
from vobjects.rpc import fleet_types, response_text, serializer, server


class Endpoint:
    """An engine as calls reach it."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._endpoint = server.Endpoint(
            [handlers(engine.runtime) for handlers in service.HANDLERS],
            manifest=local(),
            context_from=context.from_dict,
            find_response=self.find_response,
        )

    def find_response(self, call: str) -> fleet_types.RecordedResponse | None:
        with self.engine.runtime.database.reader() as session:
            return idempotency.recall(session, call)

    def call(self, request: Any, call: str) -> Any:
        return serializer.from_bytes(self.call_text(request, call))

    def call_text(self, request: Any, call: str, **options: Any) -> str:
        """Call with JSON text, as clients do, and return the response."""
        reader = {'digest': local().digest, 'call': call, **options}
        text = serializer.to_bytes(request, None).decode()
        response: str = self._endpoint.perform(
            engine_harness.request_context().to_dict(), text, reader
        )
        return response


@pytest.fixture
def endpoint(any_harness: Harness) -> Endpoint:
    return Endpoint(any_harness.engine())


def scale_out(cluster: str) -> clusters.ClusterScaleOutRequest:
    return clusters.ClusterScaleOutRequest(identity=cluster, count=1)


def test_action_is_started_once_and_named_each_time(
    any_harness: Harness, endpoint: Endpoint
) -> None:
    cluster = request_helpers.create_cluster(endpoint.engine, 1)

    first = endpoint.call(scale_out(cluster), 'a')
    endpoint.engine.run_actions()
    again = endpoint.call(scale_out(cluster), 'a')
    other = endpoint.call(scale_out(cluster), 'b')

    assert again.action == first.action != other.action
    assert again.cluster.id == cluster
    statuses = any_harness.statuses('CLUSTER_SCALE_OUT')
    assert sorted(statuses) == ['READY', 'SUCCEEDED']


def test_retry_at_second_engine_returns_recorded_response(
    any_harness: Harness, endpoint: Endpoint
) -> None:
    cluster = request_helpers.create_cluster(endpoint.engine, 1)
    other = Endpoint(any_harness.engine(name='two'))
    request = clusters.ClusterDeleteRequest(identity=cluster)

    first = endpoint.call(request, 'a')
    endpoint.engine.run_actions()

    # By now there is no such cluster.
    assert other.call(request, 'a').action == first.action
    with pytest.raises(oslo_messaging.ExpectedException):
        other.call(request, 'b')


def test_empty_response_is_recorded(endpoint: Endpoint) -> None:
    profile = request_helpers.create_profile(endpoint.engine)
    request = profiles.ProfileDeleteRequest(identity=profile)

    assert endpoint.call(request, 'a') is None
    assert endpoint.call(request, 'a') is None


def test_repeated_cancellation_is_not_a_conflict(endpoint: Endpoint) -> None:
    request_helpers.create_cluster(endpoint.engine, 1, run=False)
    (action,) = endpoint.engine.call(actions.ActionListRequest())
    request = actions.ActionUpdateRequest(
        identity=action.id, status='CANCELLED'
    )

    first = endpoint.call(request, 'a')

    assert endpoint.call(request, 'a').action == first.action == action.id


def test_retry_of_a_rejected_call_can_succeed(endpoint: Endpoint) -> None:
    request = clusters.ClusterCreateRequest(name='c', profile_id='p')
    with pytest.raises(oslo_messaging.ExpectedException):
        endpoint.call(request, 'a')

    request_helpers.create_profile(endpoint.engine)

    assert endpoint.call(request, 'a').cluster.name == 'c'


def test_concurrent_identical_calls_run_once(
    any_harness: Harness, endpoint: Endpoint
) -> None:
    request_helpers.create_profile(endpoint.engine)
    engines = [endpoint, Endpoint(any_harness.engine(name='two'))] * 2
    request = clusters.ClusterCreateRequest(name='c', profile_id='p')

    for number in range(5):
        responses = waiting.in_threads(
            lambda engine, call=str(number): engine.call(request, call),
            engines,
        )
        assert len({response.action for response in responses}) == 1

    assert any_harness.count(models.Cluster) == 5
    assert any_harness.count(models.Action) == 5


def test_old_records_are_deleted(
    any_harness: Harness, endpoint: Endpoint
) -> None:
    request_helpers.create_profile(endpoint.engine)
    for name in ('old', 'new'):
        endpoint.call(
            clusters.ClusterCreateRequest(name=name, profile_id='p'), name
        )
    with any_harness.database.writer() as session:
        past = datetime.timedelta(seconds=idempotency.RETENTION + 60)
        row = session.get(models.RecordedCall, 'old')
        assert row is not None
        session.execute(
            sqlalchemy.update(models.RecordedCall)
            .where(models.RecordedCall.id == 'old')
            .values(created_at=row.created_at - past)
        )

    endpoint.engine.reaper.sweep()

    assert [row.id for row in any_harness.rows(models.RecordedCall)] == ['new']


def profile_request(name: str) -> profiles.ProfileCreateRequest:
    return profiles.ProfileCreateRequest(
        name=name, spec=engine_harness.SPEC, metadata={}
    )


def stored_text(harness: Harness, call: str) -> str:
    with harness.database.reader() as session:
        text: str = session.execute(
            sqlalchemy.text('SELECT answered FROM calls WHERE id = :id'),
            {'id': call},
        ).scalar_one()
    return text


def test_text_of_response_is_recorded_as_sent(
    any_harness: Harness, endpoint: Endpoint
) -> None:
    request = profile_request('p')
    request.metadata = {'Zoë \0': '\U0001f980'}

    sent = endpoint.call_text(request, 'a')

    assert sent in stored_text(any_harness, 'a')
    assert 'versioned_object.changes' not in sent
    assert json.loads(endpoint.call_text(profile_request('b'), 'a')) == (
        json.loads(sent)
    )


@pytest.mark.parametrize('hidden', [(), ('RecordedText',)])
def test_response_in_the_form_of_a_microversion_is_recorded(
    any_harness: Harness, hidden: tuple[str, ...]
) -> None:
    cap = Manifest({n: v for n, v in local().items() if n not in hidden})
    endpoint = Endpoint(any_harness.engine(cap=lambda: cap))
    shown = {'versions': {'Profile': '1.0'}, 'part': ''}

    sent = endpoint.call_text(profile_request('p'), 'a', text=shown)

    assert endpoint.call_text(profile_request('b'), 'a', text=shown) == sent
    written = response_text.load(sent)
    assert written is not None
    assert json.loads(written.body)['name'] == 'p'
    record = json.loads(stored_text(any_harness, 'a'))
    name = 'Answered' if hidden else 'RecordedText'
    assert record['versioned_object.name'] == name


def test_response_that_only_json_can_write_is_recorded(
    endpoint: Endpoint,
) -> None:
    request = profile_request('p')
    request.metadata = {'lone': '\ud800'}

    sent = endpoint.call_text(request, 'a')

    assert json.loads(endpoint.call_text(request, 'a')) == json.loads(sent)


def test_record_of_an_older_release_is_returned(
    any_harness: Harness, endpoint: Endpoint
) -> None:
    sent = endpoint.call(profile_request('p'), 'a')
    # Older releases store ASCII, with the changes of the objects.
    recorded = fleet_types.RecordedResponse(content=sent.obj_to_primitive())
    sent.name = 'changed'
    primitive = recorded.obj_to_primitive()
    primitive['versioned_object.data']['content'] = sent.obj_to_primitive()
    any_harness.change(models.RecordedCall, 'a', answered=primitive)

    again = endpoint.call_text(profile_request('q'), 'a')
    assert serializer.from_bytes(again).name == 'changed'
    assert 'versioned_object.changes' not in again


def test_record_can_be_read_by_an_older_release(
    any_harness: Harness, endpoint: Endpoint
) -> None:
    sent = endpoint.call_text(profile_request('p'), 'a')
    # Older releases read the column as JSON, and then its content.
    recorded = json.loads(stored_text(any_harness, 'a'))
    assert recorded['versioned_object.name'] == 'Answered'
    content = recorded['versioned_object.data']['content']
    assert content == json.loads(sent)
