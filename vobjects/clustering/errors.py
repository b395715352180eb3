# SPDX-License-Identifier: Apache-2.0
"""Errors that an engine raises and that RPC callers receive.

The class gives the kind of error and the HTTP status. The message gives the
problem, its place and the fix.

::

    ClusteringError
    ├── BadRequest               the request is invalid or cannot be done
    │   ├── InvalidSpec          a spec does not match its type's schema
    │   ├── MultipleChoices      a name or short ID matches several resources
    │   └── ListTooLarge         a page of a list has too many bytes
    ├── Forbidden                the caller lacks the permission
    │   └── OverQuota            the project has reached its quota
    ├── ResourceNotFound         missing, or not visible to the caller
    │   └── PolicyBindingNotFound  the policy is not attached to the cluster
    ├── ResourceInUse            another resource depends on it
    ├── ResourceIsLocked         an action is working on it
    ├── ActionConflict           a running action prevents the request
    │   ├── ActionInProgress     the resource is being changed or deleted
    │   ├── ActionCooldown       a policy's cooldown has not elapsed
    │   └── ActionImmutable      the action has finished
    ├── FeatureNotSupported      not supported for this resource
    ├── Unavailable              a required service fails
    └── UnreadableRow            the database has an invalid value
"""

from __future__ import annotations

from typing import Self

from vobjects.exceptions import ServiceError, message_text


class ClusteringError(ServiceError):
    """Base class of the errors that an engine raises to RPC callers.

    :ivar compat_message: Senlin's wording of the error; empty if it equals
        ``message``
    """

    def __init__(
        self, message: str, compat_message: str = '', *_newer: str
    ) -> None:
        self.compat_message = message_text(compat_message)
        super().__init__(message, *filter(None, (self.compat_message,)))

    @classmethod
    def advised(cls, message: str, advice: str) -> Self:
        """Return an error whose message is Senlin's wording plus advice."""
        return cls(f'{message} {advice}', message)


class BadRequest(ClusteringError):
    """The request is invalid, or cannot be done as requested."""

    status = 400
    code = 'bad-request'
    title = 'Bad request'


class InvalidSpec(BadRequest):
    """A spec does not match the schema of its type."""

    code = 'spec-invalid'
    title = 'Spec is not valid'


class MultipleChoices(BadRequest):
    """A name or short ID matches more than one resource."""

    code = 'identity-ambiguous'
    title = 'Several resources match'


class ListTooLarge(BadRequest):
    """A page of a list has too many bytes.

    :ivar rows: number of rows that fit on a page, as text
    """

    def __init__(
        self,
        message: str,
        compat_message: str = '',
        rows: str = '1',
        *_newer: str,
    ) -> None:
        super().__init__(message, compat_message)
        self.rows = rows
        self.args = (message, compat_message, rows)


class Forbidden(ClusteringError):
    """The caller lacks the permission."""

    status = 403


class OverQuota(Forbidden):
    """The project has reached its quota."""

    title = 'Quota is exceeded'


class ResourceNotFound(ClusteringError):
    """The resource does not exist, or is not visible to the caller."""

    status = 404
    title = 'Resource is not found'


class PolicyBindingNotFound(ResourceNotFound):
    """The policy is not attached to the cluster."""

    code = 'policy-not-attached'
    title = 'Policy is not attached'


class ResourceInUse(ClusteringError):
    """Another resource depends on this one."""

    status = 409
    title = 'Resource is in use'


class ResourceIsLocked(ClusteringError):
    """An action is working on the resource."""

    status = 409
    code = 'resource-locked'
    title = 'Resource is locked'


class ActionConflict(ClusteringError):
    """A running action prevents the requested one."""

    status = 409
    title = 'Another action conflicts'


class ActionInProgress(ActionConflict):
    """The resource is being created, changed or deleted."""

    title = 'An action is in progress'


class ActionCooldown(ActionConflict):
    """The cooldown of a policy has not elapsed since the last action."""

    code = 'cooling-down'
    title = 'Cooldown is in progress'


class ActionImmutable(ActionConflict):
    """The action has finished and cannot be changed."""

    code = 'action-ended'
    title = 'Action has ended'


class FeatureNotSupported(ClusteringError):
    """The operation is not supported for this resource."""

    status = 409
    code = 'not-supported'
    title = 'Not supported in this state'


class Unavailable(ClusteringError):
    """A required service fails or does not respond."""

    status = 503
    code = 'service-unavailable'
    title = 'A required service is unavailable'


class UnreadableRow(ClusteringError):
    """The database has a value that this release cannot read."""

    status = 500
    title = 'A stored row is not readable'
