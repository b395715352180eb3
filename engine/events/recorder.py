# SPDX-License-Identifier: Apache-2.0
"""Which actions have events, and of which level.

An event is dispatched in the transaction that starts or ends its action: it
is there if and only if that happened.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy
from oslo_config import cfg
from sqlalchemy import orm
from stevedore import named

from engine.db import clock, models
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

    def started(self, session: orm.Session, action: models.Action) -> None:
        """Say that an action was begun with."""
        reason = f'{action.action} started.'
        self._record(session, action, START, logging.INFO, reason)

    def ended(
        self,
        session: orm.Session,
        action: models.Action,
        status: str,
        reason: str,
    ) -> None:
        """Say how an action ended."""
        phase, level = PHASES[status]
        self._record(session, action, phase, level, reason)

    def _record(
        self,
        session: orm.Session,
        action: models.Action,
        phase: str,
        level: int,
        reason: str,
    ) -> None:
        is_derived = action.cause != consts.CAUSE_REQUEST
        if level < self._lowest or (is_derived and not self._derived):
            return
        model = _model(action)
        session.flush()
        found = session.execute(
            sqlalchemy.select(
                model.name, model.status, model.status_reason
            ).where(model.id == action.target)
        ).first()
        name, status, why = found or (
            _former_name(session, action),
            None,
            None,
        )
        event = models.Event(
            id=models.new_id(),
            timestamp=clock.utcnow(),
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
