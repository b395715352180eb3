# SPDX-License-Identifier: Apache-2.0
"""Requests whose row another transaction deletes after they have read it."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy

from engine.db import models
from tests.unit.engine import request_helpers
from tests.unit.engine.engine_harness import Engine, Harness
from tests.unit.engine.policies.policy_helpers import create_policy
from vobjects.clustering import errors
from vobjects.clustering.requests import policies, profiles, receivers


def create_receiver(engine: Engine) -> str:
    request_helpers.create_cluster(engine, 0)
    receiver_id: str = request_helpers.create_webhook(engine).id
    return receiver_id


def create_scaling_policy(engine: Engine) -> str:
    event = 'CLUSTER_SCALE_OUT'
    return create_policy(engine, 'scaling', event=event)


@pytest.mark.parametrize(
    ('model', 'create', 'request_type', 'fields'),
    [
        (models.Profile, request_helpers.create_profile, *request)
        for request in (
            (profiles.ProfileUpdateRequest, {'name': 'new'}),
            (profiles.ProfileDeleteRequest, {}),
        )
    ]
    + [
        (models.Policy, create_scaling_policy, *request)
        for request in (
            (policies.PolicyUpdateRequest, {'name': 'new'}),
            (policies.PolicyDeleteRequest, {}),
        )
    ]
    + [
        (
            models.Receiver,
            create_receiver,
            receivers.ReceiverUpdateRequest,
            {'name': 'new'},
        )
    ],
)
def test_request_is_rejected(
    any_harness: Harness,
    model: Any,
    create: Any,
    request_type: Any,
    fields: dict[str, Any],
) -> None:
    database = any_harness.database
    if database.dialect == 'sqlite':
        pytest.skip('on SQLite, writers exclude each other')
    engine = any_harness.engine()
    id_ = create(engine)
    table = model.__table__
    to_delete = [id_]

    def delete_once(*arguments: Any) -> None:
        statement: str = arguments[2]
        if (
            to_delete
            and statement.startswith('SELECT')
            and table.name in statement
        ):
            is_deleted = table.c.id == to_delete.pop()
            with database.engine.begin() as connection:
                connection.execute(table.delete().where(is_deleted))

    event = (database.engine, 'after_cursor_execute', delete_once)
    sqlalchemy.event.listen(*event)
    try:
        with pytest.raises(errors.ResourceNotFound):
            engine.call(request_type(identity=id_, **fields))
    finally:
        sqlalchemy.event.remove(*event)
    assert not any_harness.rows(model)
