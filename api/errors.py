# SPDX-License-Identifier: Apache-2.0
"""What goes wrong while serving, as status and document.

::

    vobjects.microversions.errors.ApiError
    ├── (negotiation and input errors; see there)
    ├── MalformedPath          400
    ├── Unauthenticated        401   nobody knows who asks
    ├── Forbidden              403   policy
    │   └── NotLocal           403   only for this machine
    ├── NotFound               404   no such path
    ├── MethodNotAllowed       405   the path has other methods
    ├── LengthRequired         411   chunks, where the server cannot end them
    ├── UnsupportedMediaType   415   a body that is not JSON
    └── IdentitySilent         503   Keystone does not say who asks

What an engine refuses, and what keeps it from answering, are exceptions of
other packages; :data:`KINDS` gives them a status. Everything else is a fault
of ours: 500, with the reason in the log only.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import oslo_messaging

from vobjects import exceptions
from vobjects.clustering import errors as engine_errors
from vobjects.microversions import errors
from vobjects.microversions.policy import Policy

#: Seconds after which a client may try again when no engine answered: about
#: the time in which the death of one and the arrival of another is noticed.
RETRY_AFTER = 5


class MalformedPath(errors.ApiError):
    """The path names nothing that could exist."""

    code = 'path-malformed'
    title = 'Path is malformed'


class Unauthenticated(errors.ApiError):
    """The caller has not said who it is, or not truly.

    :param challenge: value of the header WWW-Authenticate
    """

    status = 401
    code = 'unauthenticated'
    title = 'Authentication is required'
    type_name = 'HTTPUnauthorized'

    def __init__(self, challenge: str) -> None:
        self.headers = (('WWW-Authenticate', challenge),)
        super().__init__('The request you have made requires authentication.')


class Forbidden(errors.ApiError):
    """The caller's roles do not allow it.

    :param rule: the policy rule that says no
    """

    status = 403
    code = 'forbidden'
    title = 'Forbidden'
    type_name = 'Forbidden'

    def __init__(self, rule: str) -> None:
        super().__init__(f"The policy rule '{rule}' does not allow this.")

    def message_under(self, policy: Policy, detail: str) -> str:
        """Return what Senlin says, whatever the rule."""
        return 'You are not authorized to complete this operation.'


class NotLocal(Forbidden):
    """Somebody elsewhere asks for what is for this machine only.

    :param detail: what that is, and what would open it
    """

    def __init__(self, detail: str) -> None:
        errors.ApiError.__init__(self, detail)

    def message_under(self, policy: Policy, detail: str) -> str:
        """Return what it is about: Senlin has no such error."""
        return detail


class NotFound(errors.ApiError):
    """No version has such a path."""

    status = 404
    code = 'path-not-found'
    title = 'Path is not found'
    type_name = 'HTTPNotFound'


class MethodNotAllowed(errors.ApiError):
    """The path is known, but not with this method.

    :param allowed: the methods it has
    """

    status = 405
    code = 'method-not-allowed'
    title = 'Method is not allowed'
    type_name = 'HTTPMethodNotAllowed'

    def __init__(self, method: str, path: str, allowed: str) -> None:
        self.headers = (('Allow', allowed),)
        super().__init__(
            f'{exceptions.cut(path)} has no method'
            f' {exceptions.cut(method)}; it has {allowed}.'
        )


class LengthRequired(errors.ApiError):
    """A chunked body, in a WSGI server that does not say where it ends."""

    status = 411
    code = 'length-required'
    title = 'Length of the body is required'
    type_name = 'HTTPLengthRequired'


class UnsupportedMediaType(errors.ApiError):
    """The body is said to be something else than JSON."""

    status = 415
    code = 'media-type-unsupported'
    title = 'Media type is not supported'
    type_name = 'InvalidContentType'


class IdentitySilent(errors.ApiError):
    """Keystone does not answer, or not to us."""

    status = 503
    code = 'identity-silent'
    title = 'The identity service did not answer'
    type_name = 'HTTPServiceUnavailable'
    headers = (('Retry-After', str(RETRY_AFTER)),)

    def __init__(self) -> None:
        super().__init__(
            'The identity service cannot be asked who you are; try again.'
        )


@dataclasses.dataclass(frozen=True, slots=True)
class Kind:
    """How a class of exceptions is answered.

    :ivar detail: instead of what the exception says, where that is meant for
        operators
    """

    status: int
    code: str
    title: str
    detail: str = ''


_SILENT = Kind(
    503,
    'engine-silent',
    'No engine answered',
    'No engine answered in time. What was asked may still be done; look'
    ' before you ask again.',
)

#: The nearest class of an exception's ancestry counts.
KINDS: Mapping[type[Exception], Kind] = {
    engine_errors.BadRequest: Kind(400, 'bad-request', 'Bad request'),
    engine_errors.InvalidSpec: Kind(400, 'spec-invalid', 'Spec is not valid'),
    engine_errors.MultipleChoices: Kind(
        400, 'identity-ambiguous', 'Several resources match'
    ),
    engine_errors.Forbidden: Kind(403, 'forbidden', 'Forbidden'),
    engine_errors.OverQuota: Kind(403, 'over-quota', 'Quota is exceeded'),
    engine_errors.ResourceNotFound: Kind(
        404, 'resource-not-found', 'Resource is not found'
    ),
    engine_errors.PolicyBindingNotFound: Kind(
        404, 'policy-not-attached', 'Policy is not attached'
    ),
    engine_errors.ResourceInUse: Kind(
        409, 'resource-in-use', 'Resource is in use'
    ),
    engine_errors.ResourceIsLocked: Kind(
        409, 'resource-locked', 'Resource is locked'
    ),
    engine_errors.ActionConflict: Kind(
        409, 'action-conflict', 'Another action is in the way'
    ),
    engine_errors.ActionInProgress: Kind(
        409, 'action-in-progress', 'Resource is being worked on'
    ),
    engine_errors.ActionCooldown: Kind(
        409, 'cooling-down', 'A policy is cooling down'
    ),
    engine_errors.ActionImmutable: Kind(
        409, 'action-ended', 'Action has ended'
    ),
    engine_errors.FeatureNotSupported: Kind(
        409, 'not-supported', 'Not supported in this state'
    ),
    engine_errors.Unavailable: Kind(
        503, 'service-unavailable', 'A service that is needed fails'
    ),
    exceptions.NoLivePeer: Kind(
        503,
        'engine-missing',
        'No engine is alive',
        'No engine is alive, or none can be reached.',
    ),
    oslo_messaging.MessagingTimeout: _SILENT,
    oslo_messaging.MessageDeliveryFailure: _SILENT,
}

_INTERNAL = Kind(500, 'internal', 'Internal error')


class InternalError(Exception):
    """What clients are told that a fault of ours is."""


@dataclasses.dataclass(frozen=True, slots=True)
class Fault:
    """An error as it is answered."""

    status: int
    code: str
    document: dict[str, Any]
    headers: tuple[tuple[str, str], ...] = ()


def fault_of(error: Exception, policy: Policy, request_id: str) -> Fault:
    """Return the answer to an error.

    An ApiError comes here only from what stands around the version
    middleware, which answers those of the application.

    :param request_id: of the request, to be found in the log
    """
    if isinstance(error, errors.ApiError):
        return Fault(
            error.status_under(policy),
            error.code,
            error.document(policy, request_id),
            error.headers,
        )
    cls, kind = _kind_of(type(error))
    if kind is _INTERNAL:
        detail = (
            'The server failed while it served this request. Its log has'
            f' the reason under {request_id or "the time of the request"}.'
        )
    else:
        # The message alone: a remote error's text has a traceback behind it.
        detail = kind.detail or getattr(error, 'message', '') or str(error)
    document = errors.document(
        policy,
        status=kind.status,
        code=kind.code,
        title=kind.title,
        detail=detail,
        type_name=cls.__name__,
        message=getattr(error, 'said', ''),
        request_id=request_id,
    )
    retry = (('Retry-After', str(RETRY_AFTER)),)
    headers = retry if kind.status == 503 else ()
    return Fault(kind.status, kind.code, document, headers)


def _kind_of(cls: type[BaseException]) -> tuple[type[BaseException], Kind]:
    for ancestor in cls.__mro__:
        kind = KINDS.get(ancestor)
        if kind is not None:
            return ancestor, kind
    return InternalError, _INTERNAL
