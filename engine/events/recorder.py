# SPDX-License-Identifier: Apache-2.0
"""Which actions have events, and of which level.

An event is dispatched in the transaction that starts or ends its action: it
is there if and only if that happened.
"""

from __future__ import annotations

import datetime
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy
from oslo_config import cfg
from sqlalchemy import orm
from stevedore import named

from engine.db import models, statements
from vobjects.clustering import consts

NAMESPACE = 'vobjects.dispatchers'

Dispatcher = Callable[[orm.Session, models.Event], None]

#: Phase of an action that began, and by its status that of one that ended.
START = 'start'
PHASES: Mapping[str, tuple[str, int]] = {
    'SUCCEEDED': ('end', logging.INFO),
    'FAILED': ('error', logging.ERROR),
    'CANCELLED': ('error', logging.WARNING),
}


def _states(rows: sqlalchemy.Table) -> sqlalchemy.Select[Any]:
    return sqlalchemy.select(
        rows.c.name, rows.c.status, rows.c.status_reason
    ).where(rows.c.id == sqlalchemy.bindparam('target'))


_STATES = {
    model: _states(statements.table(model))
    for model in (models.Cluster, models.Node)
}


class Recorder:
    """Makes events, and hands them to the dispatchers.

    :param conf: with ``[events]``
    """

    def __init__(
        self, conf: cfg.ConfigOpts, dispatchers: Sequence[Dispatcher]
    ) -> None:
        self._dispatchers = dispatchers
        self._lowest = consts.EVENT_LEVELS[conf.events.priority.upper()]
        self._derived = not conf.events.exclude_derived_actions

    def started(
        self,
        session: orm.Session,
        action: models.Action,
        now: datetime.datetime,
    ) -> None:
        """Say that an action was begun with.

        :param now: when
        """
        reason = f'{action.action} started.'
        self._record(session, action, START, logging.INFO, reason, now)

    def ended(
        self,
        session: orm.Session,
        action: models.Action,
        status: str,
        reason: str,
        now: datetime.datetime,
    ) -> None:
        """Say how an action ended.

        :param now: when
        """
        phase, level = PHASES[status]
        self._record(session, action, phase, level, reason, now)

    def _record(
        self,
        session: orm.Session,
        action: models.Action,
        phase: str,
        level: int,
        reason: str,
        now: datetime.datetime,
    ) -> None:
        is_derived = action.cause != consts.CAUSE_REQUEST
        if level < self._lowest or (is_derived and not self._derived):
            return
        model = _model(action)
        name, status, why = _state(session, model, action.target) or (
            _former_name(session, action),
            None,
            None,
        )
        event = models.Event(
            id=models.new_id(),
            timestamp=now,
            level=level,
            oid=action.target,
            oname=name,
            otype=model.__name__.upper(),
            cluster_id=action.cluster_id,
            action=action.action,
            status=status or 'DELETED',
            status_reason=reason if phase != START else why or reason,
            meta_data={'phase': phase, 'action_id': action.id},
            user=action.user,
            project=action.project,
            domain=action.domain,
        )
        for dispatch in self._dispatchers:
            dispatch(session, event)


def load(conf: cfg.ConfigOpts) -> Recorder:
    """Return a recorder with the dispatchers that are configured.

    :raises RuntimeError: one of them is not installed
    """

    def refuse(missing: Iterable[str]) -> None:
        raise RuntimeError(
            '[events] dispatchers: there is no ' + ', '.join(sorted(missing))
        )

    manager: named.NamedExtensionManager[Any] = named.NamedExtensionManager(
        NAMESPACE,
        conf.events.dispatchers,
        name_order=True,
        on_missing_entrypoints_callback=refuse,
    )
    return Recorder(conf, [found.plugin for found in manager])


def _model(
    action: models.Action,
) -> type[models.Cluster] | type[models.Node]:
    is_node = action.action.startswith('NODE_')
    return models.Node if is_node else models.Cluster


def _state(
    session: orm.Session, model: type[Any], target: str
) -> tuple[str, str, str | None] | None:
    """Return name, status and its reason of a target; None: it is gone.

    Most often the transaction has just changed it, and has it at hand.
    """
    row = session.identity_map.get(orm.util.identity_key(model, target))
    if row is not None and row not in session.deleted:
        return row.name, row.status, row.status_reason
    query = _STATES[model]
    found = session.execute(query, {'target': target}).first()
    return None if found is None else (found[0], found[1], found[2])


def _former_name(session: orm.Session, action: models.Action) -> str:
    """Return what a target that is gone was called when last heard of."""
    event = models.Event
    return (
        session.scalar(
            sqlalchemy.select(event.oname)
            .where(event.oid == action.target)
            .order_by(event.timestamp.desc())
            .limit(1)
        )
        or ''
    )
