# SPDX-License-Identifier: Apache-2.0
"""Record an event and a line of the log when an action starts or ends.

The event is dispatched in the transaction that starts or ends the action, so
it exists if and only if that transaction is committed.
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

from engine import log_context
from engine.db import database, models, statements
from vobjects.clustering import consts

LOG = logging.getLogger(__name__)

NAMESPACE = 'vobjects.dispatchers'

Dispatcher = Callable[[orm.Session, models.Event], None]

#: Phase of an action that started; phase and level by its final status.
START = 'start'
PHASES: Mapping[str, tuple[str, int]] = {
    'SUCCEEDED': ('end', logging.INFO),
    'FAILED': ('error', logging.ERROR),
    'CANCELLED': ('error', logging.WARNING),
}


def _states(rows: sqlalchemy.Table) -> sqlalchemy.Select[Any]:
    return sqlalchemy.select(rows.c.name, rows.c.status_reason).where(
        rows.c.id == sqlalchemy.bindparam('target')
    )


_STATES = {
    model: _states(statements.table(model))
    for model in (models.Cluster, models.Node)
}


class Recorder:
    """Creates events and passes them to the dispatchers.

    :param conf: the configuration, with ``[events]``
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
        """Record the start of an action.

        :param now: the time of the event
        """
        reason = f'{action.action} started.'
        self._record(session, action, START, logging.INFO, reason, now)
        _log(session, action, 'started', _log_level(action))

    def ended(
        self,
        session: orm.Session,
        action: models.Action,
        status: str,
        reason: str,
        now: datetime.datetime,
    ) -> None:
        """Record the end of an action.

        :param status: the action's final status
        :param reason: the action's status reason
        :param now: the time of the event
        """
        phase, level = PHASES[status]
        self._record(session, action, phase, level, reason, now)
        log_level = (
            logging.WARNING if status == 'FAILED' else _log_level(action)
        )
        _log(session, action, f'{status}: {reason}', log_level)

    def _record(
        self,
        session: orm.Session,
        action: models.Action,
        phase: str,
        level: int,
        reason: str,
        now: datetime.datetime,
    ) -> None:
        if level < self._lowest or (_is_derived(action) and not self._derived):
            return
        model = _model(action)
        name, state_reason = _state(session, model, action.target) or (
            _former_name(session, action),
            None,
        )
        meta_data: dict[str, Any] = {'phase': phase, 'action_id': action.id}
        if action.request_id:
            meta_data['request_id'] = action.request_id
        if model is models.Node and action.cluster_id:
            cluster = _state(session, models.Cluster, action.cluster_id)
            meta_data['cluster_name'] = cluster and cluster[0]
        event = models.Event(
            id=models.new_id(),
            timestamp=now,
            level=level,
            oid=action.target,
            oname=name,
            otype=model.__name__.upper(),
            cluster_id=action.cluster_id,
            action=action.action,
            status=phase,
            status_reason=reason if phase != START else state_reason or reason,
            meta_data=meta_data,
            user=action.user,
            project=action.project,
            domain=action.domain,
        )
        for dispatch in self._dispatchers:
            dispatch(session, event)


def load(conf: cfg.ConfigOpts) -> Recorder:
    """Return a recorder with the configured dispatchers.

    :raises RuntimeError: a dispatcher is not installed
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
    return Recorder(conf, [extension.plugin for extension in manager])


def _is_derived(action: models.Action) -> bool:
    return action.cause != consts.CAUSE_REQUEST


def _log_level(action: models.Action) -> int:
    """Return the log level for an action that does not fail."""
    return logging.DEBUG if _is_derived(action) else logging.INFO


def _log(
    session: orm.Session, action: models.Action, text: str, level: int
) -> None:
    """Log an event of an action after the transaction is committed.

    Example: CLUSTER_CHECK 0f34e647 on cluster web (1b2c...): FAILED: ...
    """
    if not LOG.isEnabledFor(level):
        return
    line = f'{action.action} {action.id[:8]} on {_about(session, action)}'
    # Names and reasons come from users and clouds: remove line breaks.
    line = ' '.join(f'{line}: {text}'.split())
    extra = log_context.log_extra(action)
    database.at_commit(
        session, lambda: LOG.log(level, '%s', line, extra=extra)
    )


def _about(session: orm.Session, action: models.Action) -> str:
    model = _model(action)
    text = _named(session, model, action.target)
    if model is models.Node and action.cluster_id:
        text += f' of {_named(session, models.Cluster, action.cluster_id)}'
    return text


def _named(session: orm.Session, model: type[Any], id_: str) -> str:
    kind, state = model.__name__.lower(), _state(session, model, id_)
    return f'{kind} {state[0]} ({id_})' if state else f'{kind} {id_}'


def _model(
    action: models.Action,
) -> type[models.Cluster] | type[models.Node]:
    is_node = action.action.startswith('NODE_')
    return models.Node if is_node else models.Cluster


def _state(
    session: orm.Session, model: type[Any], target: str
) -> tuple[str, str | None] | None:
    """Return the name and the status reason of a target, if it exists.

    Prefers the session's object, which the transaction has usually loaded.
    """
    row = session.identity_map.get(orm.util.identity_key(model, target))
    if row is not None and row not in session.deleted:
        return row.name, row.status_reason
    query = _STATES[model]
    row_ = session.execute(query, {'target': target}).first()
    return None if row_ is None else (row_[0], row_[1])


def _former_name(session: orm.Session, action: models.Action) -> str:
    """Return the name of a deleted target from its latest event."""
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
