# SPDX-License-Identifier: Apache-2.0
"""Map exceptions to HTTP statuses and error documents.

::

    vobjects.microversions.errors.ApiError
    ├── (negotiation and input errors; see there)
    ├── MalformedPath          400
    ├── MalformedHost          400
    ├── Unauthenticated        401   no or wrong credentials
    │   └── SignInRejected     401   Keystone rejected a name and password
    ├── Forbidden              403   by policy
    │   ├── NotLocal           403   only for requests from this machine
    │   └── CrossOrigin        403   sent by a page of another site
    ├── NotFound               404   no such path
    ├── MethodNotAllowed       405   the path has other methods
    ├── BodyTimeout            408   the body took too long to arrive
    ├── LengthRequired         411   the server cannot read chunked bodies
    ├── UnsupportedMediaType   415   the body is not JSON
    ├── UnknownHost            421   Host is not a name of this API
    ├── ConvertedError               an exception of another package
    └── Unavailable            503   try again later
        ├── TooManyUploads           too many requests wait for their bodies
        ├── TooManyLists             the responses would need too much memory
        ├── TooManyChecks            too many password checks wait
        └── KeystoneUnavailable      Keystone cannot validate the token

Errors that engines return, or that prevent a reply, are exceptions of other
packages; :data:`ERROR_TYPES` assigns them a status. Any other exception is a
bug: the status is 500, and only the log has the reason.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import oslo_messaging

from vobjects import exceptions
from vobjects.clustering import errors as engine_errors
from vobjects.microversions import application_errors, errors
from vobjects.microversions.version_policy import VersionPolicy

#: Seconds after which a client may retry when no engine answered: roughly the
#: time until the fleet notices that an engine died or joined.
RETRY_AFTER = 5


class MalformedPath(errors.ApiError):
    """The path cannot name any resource."""

    code = 'path-malformed'
    title = 'Path is malformed'


class MalformedHost(errors.ApiError):
    """The header Host is neither a name nor an address."""

    code = 'host-malformed'
    title = 'Host is malformed'


class Unauthenticated(errors.ApiError):
    """The request has no credentials, or wrong ones.

    :param challenge: value of the header WWW-Authenticate
    """

    status = 401
    code = 'unauthenticated'
    title = 'Authentication is required'
    type_name = 'HTTPUnauthorized'

    def __init__(self, challenge: str) -> None:
        self.headers = (('WWW-Authenticate', challenge),)
        super().__init__('The request you have made requires authentication.')


class SignInRejected(Unauthenticated):
    """Keystone rejected a name and password.

    :param challenge: value of the header WWW-Authenticate
    """

    code = 'sign-in-rejected'
    title = 'Sign-in is rejected'

    def __init__(self, challenge: str) -> None:
        super().__init__(challenge)
        errors.ApiError.__init__(
            self,
            'Keystone rejected the name, the password, the domain or the'
            ' project.',
        )


class Forbidden(errors.ApiError):
    """The caller's roles do not allow the request.

    :param rule: the policy rule that denies it
    """

    status = 403
    code = 'forbidden'
    title = 'Forbidden'
    type_name = 'Forbidden'

    def __init__(self, rule: str) -> None:
        super().__init__(f"The policy rule '{rule}' does not allow this.")

    def message_for(self, policy: VersionPolicy, detail: str) -> str:
        """Return Senlin's message, which does not name the rule."""
        return 'You are not authorized to complete this operation.'


class NotLocal(Forbidden):
    """A remote caller requests something reserved for this machine.

    :param detail: the restriction, and the option that lifts it
    """

    def __init__(self, detail: str) -> None:
        errors.ApiError.__init__(self, detail)

    def message_for(self, policy: VersionPolicy, detail: str) -> str:
        """Return the detail: Senlin has no such error."""
        return detail


class CrossOrigin(NotLocal):
    """A web page of another origin sent a request that changes something.

    :param detail: the origin, and the option that allows it
    """

    code = 'cross-origin'
    title = 'Pages of other origins are not allowed'


class UnknownHost(errors.ApiError):
    """The header Host does not name this API.

    :param detail: the name, and the option that adds it
    """

    status = 421
    code = 'unknown-host'
    title = 'Host is not a name of this API'
    type_name = 'HTTPMisdirectedRequest'


class NotFound(errors.ApiError):
    """No microversion has such a path."""

    status = 404
    code = 'path-not-found'
    title = 'Path is not found'
    type_name = 'HTTPNotFound'


class MethodNotAllowed(errors.ApiError):
    """The path does not support this method.

    :param allowed: the methods that it supports
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


class BodyTimeout(errors.ApiError):
    """The request body did not arrive in time.

    :param seconds: the limit
    """

    status = 408
    code = 'body-timeout'
    title = 'Body of the request did not arrive in time'
    type_name = 'HTTPRequestTimeout'

    def __init__(self, seconds: float) -> None:
        super().__init__(
            'The request body must arrive within'
            f' {seconds:g} seconds ([api] body_timeout).'
        )


class LengthRequired(errors.ApiError):
    """A chunked body, on a WSGI server that does not mark its end."""

    status = 411
    code = 'length-required'
    title = 'Length of the body is required'
    type_name = 'HTTPLengthRequired'


class UnsupportedMediaType(errors.ApiError):
    """The Content-Type of the body is not JSON."""

    status = 415
    code = 'media-type-unsupported'
    title = 'Media type is not supported'
    type_name = 'InvalidContentType'


class Unavailable(errors.ApiError):
    """The API cannot serve this request now."""

    status = 503
    type_name = 'HTTPServiceUnavailable'
    headers = (('Retry-After', str(RETRY_AFTER)),)


class TooManyUploads(Unavailable):
    """Too many requests wait for their bodies."""

    code = 'too-many-uploads'
    title = 'Too many requests wait for their bodies'

    def __init__(self) -> None:
        super().__init__(
            'Too many requests are waiting for their bodies; try again.'
        )


class TooManyLists(Unavailable):
    """The responses to lists in progress would need too much memory."""

    code = 'too-many-lists'
    title = 'Too many lists are in progress'

    def __init__(self) -> None:
        super().__init__('Too many lists are in progress; try again.')


class TooManyChecks(Unavailable):
    """Too many password checks are waiting."""

    code = 'too-many-checks'
    title = 'Too many passwords are being checked'

    def __init__(self) -> None:
        super().__init__(
            'Too many password checks are waiting, in total or from your'
            ' address; try again.'
        )


class KeystoneUnavailable(Unavailable):
    """Keystone does not answer, or rejects the API's own credentials."""

    code = 'identity-silent'
    title = 'The identity service did not answer'

    def __init__(self) -> None:
        super().__init__('Keystone cannot validate the token now; try again.')


@dataclasses.dataclass(frozen=True, slots=True)
class ErrorType:
    """Status and texts for a class of exceptions.

    :ivar detail: replaces the exception's own text, if that is for operators
    """

    status: int
    code: str
    title: str
    detail: str = ''


_NO_RESPONSE = ErrorType(
    application_errors.NoResponse.status,
    application_errors.NoResponse.code,
    application_errors.NoResponse.title,
    application_errors.NoResponse().detail,
)

#: The most specific class in an exception's MRO applies.
ERROR_TYPES: Mapping[type[Exception], ErrorType] = {
    engine_errors.BadRequest: ErrorType(400, 'bad-request', 'Bad request'),
    engine_errors.InvalidSpec: ErrorType(
        400, 'spec-invalid', 'Spec is not valid'
    ),
    engine_errors.MultipleChoices: ErrorType(
        400, 'identity-ambiguous', 'Several resources match'
    ),
    engine_errors.Forbidden: ErrorType(403, 'forbidden', 'Forbidden'),
    engine_errors.OverQuota: ErrorType(403, 'over-quota', 'Quota is exceeded'),
    engine_errors.ResourceNotFound: ErrorType(
        404, 'resource-not-found', 'Resource is not found'
    ),
    engine_errors.PolicyBindingNotFound: ErrorType(
        404, 'policy-not-attached', 'Policy is not attached'
    ),
    engine_errors.ResourceInUse: ErrorType(
        409, 'resource-in-use', 'Resource is in use'
    ),
    engine_errors.ResourceIsLocked: ErrorType(
        409, 'resource-locked', 'Resource is locked'
    ),
    engine_errors.ActionConflict: ErrorType(
        409, 'action-conflict', 'Another action conflicts'
    ),
    engine_errors.ActionInProgress: ErrorType(
        409, 'action-in-progress', 'An action is in progress'
    ),
    engine_errors.ActionCooldown: ErrorType(
        409, 'cooling-down', 'Cooldown is in progress'
    ),
    engine_errors.ActionImmutable: ErrorType(
        409, 'action-ended', 'Action has ended'
    ),
    engine_errors.FeatureNotSupported: ErrorType(
        409, 'not-supported', 'Not supported in this state'
    ),
    engine_errors.Unavailable: ErrorType(
        503, 'service-unavailable', 'A required service is unavailable'
    ),
    exceptions.NoLivePeer: ErrorType(
        503,
        'engine-missing',
        'No engine is alive',
        'No engine is alive, or none can be reached.',
    ),
    exceptions.Unreachable: ErrorType(
        503,
        'service-unavailable',
        'A required service is unavailable',
        'A service that the engine needs does not respond; try again.',
    ),
    exceptions.DeadlinePassed: _NO_RESPONSE,
    oslo_messaging.MessagingTimeout: _NO_RESPONSE,
    oslo_messaging.MessageDeliveryFailure: _NO_RESPONSE,
}

_INTERNAL = ErrorType(500, 'internal', 'Internal error')


class InternalError(Exception):
    """Name under which clients see unexpected exceptions."""


class ConvertedError(errors.ApiError):
    """An exception of another package, as an error of the API.

    :param request_id: ID of the request, for finding it in the log
    """

    def __init__(self, error: Exception, request_id: str) -> None:
        cls, error_type = _error_type_of(type(error))
        self.status = error_type.status
        self.code = error_type.code
        self.title = error_type.title
        self.type_name = cls.__name__
        self.compat_message: str = getattr(error, 'compat_message', '')
        if self.status == Unavailable.status:
            self.headers = Unavailable.headers
        if error_type is _INTERNAL:
            detail = (
                'The server failed to process this request. Its log has the'
                f' reason under {request_id or "the time of the request"}.'
            )
        else:
            detail = error_type.detail or message_of(error) or self.title
        super().__init__(detail)

    def message_for(self, policy: VersionPolicy, detail: str) -> str:
        """Return Senlin's message, if the engine has sent one."""
        return self.compat_message or detail


def message_of(error: BaseException) -> str:
    """Return the text of an error, without the traceback of a remote one."""
    message = getattr(error, 'message', None)
    if isinstance(message, str):
        return message  # perhaps empty: then str() is the traceback alone
    return str(error)


def _error_type_of(
    cls: type[BaseException],
) -> tuple[type[BaseException], ErrorType]:
    for ancestor in cls.__mro__:
        error_type = ERROR_TYPES.get(ancestor)
        if error_type is not None:
            return ancestor, error_type
    return InternalError, _INTERNAL
