# SPDX-License-Identifier: Apache-2.0
"""What an engine refuses, as classes that travel over RPC.

The class says what kind of refusal it is and the message what was wrong,
where, and what would make it right. ``api.errors`` maps classes to statuses.

::

    ClusteringError
    ├── BadRequest               the request cannot be understood or done
    │   ├── InvalidSpec          a profile's spec does not fit its schema
    │   └── MultipleChoices      a name or short ID that fits several
    ├── Forbidden                the caller may not
    │   └── OverQuota            the project has all that it may have
    ├── ResourceNotFound         there is none, or none the caller may see
    │   └── PolicyBindingNotFound  the cluster does not have the policy
    ├── ResourceInUse            something else still needs it
    ├── ResourceIsLocked         an action is working on it
    ├── ActionConflict           it does not go together with a running action
    │   ├── ActionInProgress     the resource is being made, changed or deleted
    │   ├── ActionCooldown       a policy lets it rest after the last one
    │   └── ActionImmutable      the action to be changed has ended
    ├── FeatureNotSupported      not for a resource that is as this one is
    └── Unavailable              a service that is needed for it fails
"""

from __future__ import annotations

from typing import Self


class ClusteringError(Exception):
    """Root of what an engine refuses.

    Positional arguments, because a class is rebuilt from them on the other
    side of the bus, where a newer release may have sent more of them.

    :ivar message: what was wrong, where, and what would make it right
    :ivar said: what Senlin says of it, where that is something else
    """

    def __init__(self, message: str, said: str = '', *_newer: str) -> None:
        self.message = message
        self.said = said
        super().__init__(*(part for part in (message, said) if part))

    @classmethod
    def advised(cls, said: str, advice: str) -> Self:
        """Return a refusal in Senlin's words, with advice behind them."""
        return cls(f'{said} {advice}', said)

    def __str__(self) -> str:
        # oslo.messaging appends the remote traceback to the class's text.
        return self.message


class BadRequest(ClusteringError):
    """The request cannot be understood, or not be done as asked."""


class InvalidSpec(BadRequest):
    """A spec does not fit the schema of its type."""


class MultipleChoices(BadRequest):
    """A name or a short ID that fits more than one resource."""


class Forbidden(ClusteringError):
    """The caller may not do this."""


class OverQuota(Forbidden):
    """The project has as many as it may have."""


class ResourceNotFound(ClusteringError):
    """There is no such resource, or none that the caller may see."""


class PolicyBindingNotFound(ResourceNotFound):
    """The cluster does not have the policy."""


class ResourceInUse(ClusteringError):
    """Something else still needs the resource."""


class ResourceIsLocked(ClusteringError):
    """An action is working on the resource."""


class ActionConflict(ClusteringError):
    """The action does not go together with one that is under way."""


class ActionInProgress(ActionConflict):
    """The resource is being made, changed or deleted."""


class ActionCooldown(ActionConflict):
    """A policy lets the cluster rest after what was done last."""


class ActionImmutable(ActionConflict):
    """The action to be changed has ended."""


class FeatureNotSupported(ClusteringError):
    """This is not done to a resource that is as this one is."""


class Unavailable(ClusteringError):
    """A service that is needed for it fails, or does not answer."""
