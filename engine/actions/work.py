# SPDX-License-Identifier: Apache-2.0
"""An action that is being run, one stage at a time.

A stage is a function of a :class:`Work`. It ends in one of five ways, each
within a transaction of :meth:`Work.write`: ``wait`` for children and go on
with another stage, ``pause`` and go on with another stage after a time,
``succeed``, ``fail``, or by an exception, which fails the action. A stage may
be run again from its beginning, by any engine, until the transaction that
ends it is committed; nothing waits in a thread.
"""

from __future__ import annotations

import dataclasses
import datetime
import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from oslo_db import exception as oslo_db_exception
from sqlalchemy import orm

from engine.actions import logs, queue, runtime
from engine.db import actions, database, dependencies, locks, models
from engine.providers import base as providers
from vobjects import base, exceptions
from vobjects.clustering import consts, errors

LOG = logging.getLogger(__name__)

Result = TypeVar('Result')

#: Errors whose message is written for users.
EXPLAINED = (
    errors.ClusteringError,
    providers.ProviderError,
    exceptions.ConversionError,
)

#: Errors that say nothing about the action: another try may do.
PASSING = (exceptions.FleetError, oslo_db_exception.DBConnectionError)

Stage = Callable[['Work'], None]

#: Leaves an action's target in a state that tells what happened (a reason).
Abandon = Callable[[orm.Session, models.Action, str], None]


def given(request: Any, field: str) -> Any:
    """Return the value of a request's field; None if it was not given."""
    return getattr(request, field) if request.obj_attr_is_set(field) else None


@dataclasses.dataclass(frozen=True, slots=True)
class Kind:
    """A kind of action.

    :ivar stages: name -> stage; the first to run is ``start``
    :ivar wants: the locks it needs, by its row and its request
    :ivar abandon: leaves the target in a state that tells what happened,
        when the action ends without having done its work
    """

    stages: Mapping[str, Stage]
    wants: Callable[[models.Action, base.Request], list[locks.Want]]
    abandon: Abandon


class Work:
    """The right and the means to run an action's next stage.

    :param action: the row as it was when it was claimed
    :param request: what its inputs say
    """

    def __init__(
        self,
        run: runtime.Runtime,
        kind: Kind,
        claim: actions.Claim,
        action: models.Action,
        request: Any,
    ) -> None:
        self.run = run
        self.kind = kind
        self.claim = claim
        self.action = action
        self.request = request
        #: Whether its cluster has policies to ask; None: nobody has looked.
        #: None comes or goes while the cluster is locked.
        self.has_policies: bool | None = None
        self._settled = False
        self._woken = False
        self._status: str | None = None
        #: The time of the transaction under way.
        self._now: datetime.datetime | None = None

    def perform(self) -> None:
        """Run the stage that is due. Never raises but what ends a thread."""
        logs.enter(self.action)
        LOG.debug('Stage %s', self.action.stage)
        try:
            self._perform()
        except actions.ClaimLostError:
            LOG.info('The action was taken away')
        except Exception as error:  # noqa: BLE001 - it is told
            # Whoever looks for claims without a worker gives it back.
            what = f'Could not end {self.action.action} {self.action.id}'
            database.report(LOG, error, what)

    def _perform(self) -> None:
        try:
            self.kind.stages[self.action.stage](self)
            if not self._settled:
                raise RuntimeError(
                    f'stage {self.action.stage} of {self.action.action} did'
                    ' not end'
                )
        except (actions.ClaimLostError, *PASSING):
            raise
        except EXPLAINED as error:
            self._abandon(str(error))
        except Exception as error:
            LOG.exception('The action failed')
            self._abandon(f'internal error: {type(error).__name__}')

    # Within a stage

    def write(self, body: Callable[[orm.Session], Result]) -> Result:
        """Run ``body(session)`` in a transaction, if the claim still holds.

        Nobody can take the action away before the transaction ends.

        :param body: leaves no trace but in the database: it may run twice
        :raises engine.db.actions.ClaimLostError: the action is another's
        """

        def attempt(session: orm.Session) -> Result:
            self._settled = self._woken = False
            self._status = None
            self._now = actions.hold(session, self.claim)
            return body(session)

        result = self.run.database.write(attempt)
        if self._woken:
            self.run.wake()
        if self._status is not None:
            level = logging.DEBUG if self._is_derived() else logging.INFO
            LOG.log(level, 'The action has ended: %s', self._status)
        return result

    def _is_derived(self) -> bool:
        return self.action.cause != consts.CAUSE_REQUEST

    @property
    def cloud(self) -> providers.Provider:
        """The cloud as whoever asked for the action sees it.

        Not within a transaction: the identity service may have to be asked.

        :raises engine.providers.base.ProviderError: it must not be used so
        """
        return self.run.cloud_of(self.action.user, self.action.project)

    def child(
        self, kind: str, target_id: str, request: base.Request
    ) -> models.Action:
        """Return a new action to wait for."""
        return queue.derived(self.run, self.action, kind, target_id, request)

    def wait(
        self,
        session: orm.Session,
        children: Iterable[models.Action],
        then: str,
    ) -> None:
        """Go on with stage ``then`` when the children have ended.

        :param children: from :meth:`child`; at least one
        """
        batch = list(children)
        data = {**self.action.data, 'children': [c.id for c in batch]}
        actions.wait_for(session, self.claim, batch, then, data)
        self._settled = self._woken = True

    def pause(
        self,
        session: orm.Session,
        then: str,
        *,
        status: str = 'READY',
        seconds: float = 0.0,
        **values: Any,
    ) -> None:
        """Go on with stage ``then`` after a time, in any engine.

        :param status: what the action is in meanwhile
        :param values: columns to set
        """
        actions.pause(
            session, self.claim, then, status=status, seconds=seconds, **values
        )
        self._settled, self._woken = True, not seconds

    def extend(
        self, session: orm.Session, seconds: float
    ) -> datetime.datetime | None:
        """Let the action take so much longer than its timeout says.

        :returns: its deadline, which new children get, too
        """
        started = self.action.start_time
        if started is not None:
            self.action.deadline = actions.later(
                datetime.datetime.fromtimestamp(started, datetime.UTC),
                self.action.timeout + seconds,
            )
            actions.update(
                session, self.claim.condition(), deadline=self.action.deadline
            )
        return self.action.deadline

    def failures(self, session: orm.Session) -> list[str]:
        """Return why children of the last wait did not succeed."""
        batch = set(self.action.data.get('children', ()))
        if not batch:
            return []
        return [
            f'{child.action} of {child.target}: {child.status_reason}'
            for child in dependencies.children(session, self.action.id)
            if child.id in batch and child.status != 'SUCCEEDED'
        ]

    def succeed(
        self,
        session: orm.Session,
        reason: str,
        outputs: Mapping[str, Any] | None = None,
    ) -> None:
        """End the action well."""
        self._end(session, 'SUCCEEDED', reason, outputs)

    def fail(self, session: orm.Session, reason: str) -> None:
        """End the action badly; the target's state is the stage's affair."""
        self._end(session, 'FAILED', reason)

    def _end(
        self,
        session: orm.Session,
        status: str,
        reason: str,
        outputs: Mapping[str, Any] | None = None,
    ) -> None:
        assert self._now is not None
        ended, self._woken = actions.end(
            session,
            self.action,
            self.claim.condition(),
            status,
            reason,
            self._now,
            outputs,
        )
        if not ended:
            raise actions.ClaimLostError(self.action.id)
        self.run.events.ended(session, self.action, status, reason, self._now)
        self.run.metrics.ended(session, self.action, status)
        self._settled = True
        self._status = f'{status}: {reason!r}'

    # Other ends

    def _abandon(self, reason: str) -> None:
        def body(session: orm.Session) -> None:
            self.kind.abandon(session, self.action, reason)
            self.fail(session, reason)

        self.write(body)
