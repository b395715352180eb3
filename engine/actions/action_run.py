# SPDX-License-Identifier: Apache-2.0
"""Run an action, one stage at a time.

A stage is a function that receives an :class:`ActionRun`. It ends within a
transaction of :meth:`ActionRun.write`, in one of these ways:

* ``wait`` for children, then continue with another stage
* ``pause``, then continue with another stage after a time
* ``succeed``
* ``fail``
* an exception, which fails the action unless it is in
  :data:`TRANSIENT_ERRORS`

Until that transaction is committed, any engine may run the stage again from
its beginning. No thread waits.

A stage that consists of one transaction is also a *step*: a function that
receives the run and the session. It runs in the transaction that claims the
action, which saves the claim and often the locks.
"""

from __future__ import annotations

import dataclasses
import datetime
import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from sqlalchemy import orm

from engine import log_context
from engine.actions import action_factory
from engine.actions.runtime import Runtime
from engine.db import (
    actions,
    database,
    dependencies,
    locks,
    models,
    statements,
)
from engine.providers import base as providers
from vobjects import exceptions, objects
from vobjects.clustering import errors

LOG = logging.getLogger(__name__)

Result = TypeVar('Result')

#: Errors whose message is written for users.
USER_ERRORS = (
    errors.ClusteringError,
    providers.ProviderError,
    exceptions.ConversionError,
)

#: Errors that are not the action's fault: it is run again.
TRANSIENT_ERRORS = (exceptions.FleetError, exceptions.Unreachable)

#: Key in an action's data: the final status and reason after an undo.
OUTCOME = 'outcome'

Stage = Callable[['ActionRun'], None]

#: A stage that runs in one transaction.
Step = Callable[['ActionRun', orm.Session], None]

#: Sets the target's status after an action ended for the given reason.
FailureHandler = Callable[[orm.Session, models.Action, str], None]


def is_forced(request: Any) -> bool:
    """Tell whether a request forces a deletion.

    A forced deletion ends the actions that block it, and waits neither for a
    grace period nor for a lifecycle hook.
    """
    return 'force' in request.fields and bool(request.get('force'))


@dataclasses.dataclass(frozen=True, slots=True)
class ActionType:
    """The type of an action.

    :ivar stages: stages by name; the first to run is ``start``
    :ivar lock_requests: returns the needed locks for an action and its request
    :ivar on_failure: sets the target's status when the action ends without
        having done its work
    :ivar undo: returns the stage that reverts a begun action, before it ends
        without having done its work; None: it can end at once
    :ivar is_cancellable: returns whether a user can cancel an action
    :ivar steps: the stages that are also steps, by name
    """

    stages: Mapping[str, Stage]
    lock_requests: Callable[
        [models.Action, objects.Request], list[locks.LockRequest]
    ]
    on_failure: FailureHandler
    undo: Callable[[models.Action], str | None] = lambda action: None
    is_cancellable: Callable[[models.Action], bool] = lambda action: True
    steps: Mapping[str, Step] = dataclasses.field(default_factory=dict)


class ActionRun:
    """A claimed action, with the services to run its next stage.

    :param action: the row as it was when it was claimed
    :param request: the request in the action's inputs
    """

    def __init__(
        self,
        runtime: Runtime,
        action_type: ActionType,
        claim: actions.Claim,
        action: models.Action,
        request: Any,
    ) -> None:
        self.runtime = runtime
        self.action_type = action_type
        self.claim = claim
        self.action = action
        self.request = request
        #: Whether the cluster has policies; None if it has not been read. It
        #: cannot change while the cluster is locked.
        self.has_policies: bool | None = None
        #: Whether the stage has ended in the last transaction.
        self.stage_ended = False
        self._wake_needed = False
        #: Whether the action has ended.
        self.has_ended = False
        self._has_locks = True
        #: The time at which the current transaction locked the action, and
        #: the monotonic time at that moment.
        self._now: datetime.datetime | None = None
        self._now_at = 0.0

    def run_step(
        self,
        session: orm.Session,
        step: Step,
        now: datetime.datetime,
        missing: Sequence[models.Lock],
        *,
        has_locks: bool,
    ) -> None:
        """Run a step in the transaction that claims the action.

        :param now: the time of the claim
        :param missing: the locks that the action needs and does not hold yet.
            They are stored only if the action goes on: until the commit, this
            transaction has locked the rows of the resources.
        :param has_locks: whether the action may hold locks
        :raises Exception: any error of the step; the caller rolls back
        """
        log_context.enter(self.action)
        LOG.debug('Step %s', self.action.stage)
        self._set_time(now)
        self._has_locks = has_locks
        step(self, session)
        self._check_stage_ended()
        if not self.has_ended:
            statements.insert(session, missing)

    def announce(self) -> None:
        """Announce the actions that became ready, after the commit."""
        if self._wake_needed:
            self.runtime.wake()

    def perform(self) -> None:
        """Run the next stage, and log any exception."""
        log_context.enter(self.action)
        LOG.debug('Stage %s', self.action.stage)
        try:
            try:
                self._perform()
            except actions.UndoRequestedError:
                LOG.info('The action is reverted')
                self._release()
        except actions.ClaimLostError:
            LOG.info('The action was taken away')
        except Exception as error:  # noqa: BLE001 - it is logged
            # The search for claims without a worker gives it back.
            message = f'Could not end {self.action.action} {self.action.id}'
            database.log_failure(LOG, error, message)

    def _perform(self) -> None:
        try:
            self.action_type.stages[self.action.stage](self)
            self._check_stage_ended()
        except (
            actions.ClaimLostError,
            actions.UndoRequestedError,
            *TRANSIENT_ERRORS,
        ):
            raise
        except USER_ERRORS as error:
            self._fail_target(str(error))
        except (Exception, SystemExit) as error:
            # A plug-in may call sys.exit(), which would end this thread.
            LOG.exception('The action failed')
            self._fail_target(f'internal error: {type(error).__name__}')

    def _check_stage_ended(self) -> None:
        if not self.stage_ended:
            raise RuntimeError(
                f'stage {self.action.stage} of {self.action.action} did not'
                ' end'
            )

    def _set_time(self, now: datetime.datetime) -> None:
        self._now, self._now_at = now, time.monotonic()

    def _time(self) -> datetime.datetime:
        """Return the database's time, without asking it again."""
        assert self._now is not None
        elapsed = time.monotonic() - self._now_at
        return self._now + datetime.timedelta(seconds=elapsed)

    def _release(self) -> None:
        if self.runtime.database.write(
            lambda session: actions.release_claim(session, self.claim)
        ):
            self.runtime.wake()

    # Within a stage

    def write(self, body: Callable[[orm.Session], Result]) -> Result:
        """Run ``body(session)`` in a transaction, if the claim is still valid.

        No engine can take over the action before the transaction ends.

        :param body: may run twice, so it must have no effect outside of the
            database
        :raises engine.db.actions.ClaimLostError: another worker owns the
            action
        :raises engine.db.actions.UndoRequestedError: the action must be undone
        """

        def attempt(session: orm.Session) -> Result:
            self.stage_ended = self._wake_needed = False
            self._set_time(
                actions.lock_claimed(session, self.claim, self.action.stage)
            )
            return body(session)

        result = self.runtime.database.write(attempt)
        self.announce()
        return result

    @property
    def cloud(self) -> providers.Provider:
        """The cloud, with the permissions of the action's user.

        Don't use it within a transaction: it may call the identity service.

        :raises engine.providers.base.ProviderError: the permissions cannot be
            used
        """
        return self.runtime.cloud_of(self.action.user, self.action.project)

    def child(
        self, action_type: str, target_id: str, request: objects.Request
    ) -> models.Action:
        """Return a new child action to wait for."""
        return action_factory.child(
            self.runtime, self.action, action_type, target_id, request
        )

    def children(
        self,
        action_type: str,
        request_type: type[objects.Request],
        node_ids: Iterable[str],
        **fields: Any,
    ) -> list[models.Action]:
        """Return new child actions on nodes.

        :param fields: the fields of each request besides the node's ID
        """
        return [
            self.child(
                action_type, node_id, request_type(identity=node_id, **fields)
            )
            for node_id in node_ids
        ]

    def wait(
        self,
        session: orm.Session,
        children: Iterable[models.Action],
        then: str,
        failed: Iterable[models.Action] = (),
    ) -> None:
        """Continue with stage ``then`` when the children have ended.

        :param children: from :meth:`child`; at least one
        :param failed: ended children whose failures count, too
        """
        batch = list(children)
        ids = [child.id for child in (*failed, *batch)]
        data = {**self.action.data, 'children': ids}
        actions.wait_for(session, self.claim, batch, then, data)
        self.stage_ended = self._wake_needed = True

    def pause(
        self,
        session: orm.Session,
        then: str,
        *,
        status: str = 'READY',
        seconds: float = 0.0,
        **values: Any,
    ) -> None:
        """Continue with stage ``then`` after a time, in any engine.

        :param status: the status of the action meanwhile
        :param seconds: the time to wait
        :param values: other columns to set
        """
        actions.pause(
            session, self.claim, then, status=status, seconds=seconds, **values
        )
        self.stage_ended, self._wake_needed = True, not seconds

    def extend(
        self, session: orm.Session, seconds: float
    ) -> datetime.datetime | None:
        """Extend the action's deadline beyond its timeout.

        :param seconds: the additional time
        :returns: the deadline, also for new children
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
        """Return the failure reasons of the children of the last wait."""
        return [
            f'{child.action} of {child.target}: {child.status_reason}'
            for child in self.failed_children(session)
        ]

    def failed_children(self, session: orm.Session) -> list[models.Action]:
        """Return the children of the last wait that did not succeed."""
        batch = set(self.action.data.get('children', ()))
        if not batch:
            return []
        return [
            child
            for child in dependencies.children(session, self.action.id)
            if child.id in batch and child.status != 'SUCCEEDED'
        ]

    def succeed(self, session: orm.Session, reason: str) -> None:
        """End the action with status SUCCEEDED."""
        self._end(session, 'SUCCEEDED', reason)

    def fail(self, session: orm.Session, reason: str) -> None:
        """End the action with status FAILED; the caller sets the target's."""
        self._end(session, 'FAILED', reason)

    def end_undone(self, session: orm.Session, problem: str = '') -> None:
        """End the action after its stage ``undo``, as was requested.

        :param problem: what could not be reverted, if anything
        """
        status, reason = self.action.data[OUTCOME]
        if problem:
            reason = f'{reason}; {problem}'
        self._end(session, status, reason)

    def _end(self, session: orm.Session, status: str, reason: str) -> None:
        now = self._time()
        ended, self._wake_needed = actions.end(
            session,
            self.action,
            self.claim.condition(),
            status,
            reason,
            now,
            has_locks=self._has_locks,
        )
        if not ended:
            raise actions.ClaimLostError(self.action.id)
        self.runtime.events.ended(session, self.action, status, reason, now)
        self.runtime.metrics.ended(session, self.action, status)
        self.stage_ended = self.has_ended = True

    # Failure

    def _fail_target(self, reason: str) -> None:
        def body(session: orm.Session) -> None:
            self.action_type.on_failure(session, self.action, reason)
            self.fail(session, reason)

        self.write(body)
