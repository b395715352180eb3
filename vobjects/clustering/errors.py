# SPDX-License-Identifier: Apache-2.0
"""Errors that an engine raises and that RPC callers receive.

The class gives the kind of error. The message gives the problem, its place and
the fix. ``api.errors`` maps the classes to HTTP statuses.

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
    └── Unavailable              a required service fails
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


class InvalidSpec(BadRequest):
    """A spec does not match the schema of its type."""


class MultipleChoices(BadRequest):
    """A name or short ID matches more than one resource."""


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


class OverQuota(Forbidden):
    """The project has reached its quota."""


class ResourceNotFound(ClusteringError):
    """The resource does not exist, or is not visible to the caller."""


class PolicyBindingNotFound(ResourceNotFound):
    """The policy is not attached to the cluster."""


class ResourceInUse(ClusteringError):
    """Another resource depends on this one."""


class ResourceIsLocked(ClusteringError):
    """An action is working on the resource."""


class ActionConflict(ClusteringError):
    """A running action prevents the requested one."""


class ActionInProgress(ActionConflict):
    """The resource is being created, changed or deleted."""


class ActionCooldown(ActionConflict):
    """The cooldown of a policy has not elapsed since the last action."""


class ActionImmutable(ActionConflict):
    """The action has finished and cannot be changed."""


class FeatureNotSupported(ClusteringError):
    """The operation is not supported for this resource."""


class Unavailable(ClusteringError):
    """A required service fails or does not respond."""
