# SPDX-License-Identifier: Apache-2.0
"""Errors that the API itself finds, with their statuses.

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
    ├── LengthRequired         411   the server cannot read chunked bodies
    ├── UnsupportedMediaType   415   the body is not JSON
    ├── UnknownHost            421   Host is not a name of this API
    └── application_errors.RetryLater
        ├── TooManyUploads     503   too many requests wait for their bodies
        ├── TooManyLists       503   the responses would need too much memory
        ├── TooManyChecks      503   too many password checks wait
        └── KeystoneUnavailable 503  Keystone cannot validate the token

The errors that engines return have their statuses in
:mod:`vobjects.clustering.errors`.
"""

from __future__ import annotations

from vobjects import exceptions
from vobjects.microversions import application_errors, errors
from vobjects.microversions.version_policy import VersionPolicy


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
    detail = 'The request you have made requires authentication.'

    def __init__(self, challenge: str) -> None:
        self.headers = (('WWW-Authenticate', challenge),)
        super().__init__()


class SignInRejected(Unauthenticated):
    """Keystone rejected a name and password.

    :param challenge: value of the header WWW-Authenticate
    """

    code = 'sign-in-rejected'
    title = 'Sign-in is rejected'
    detail = (
        'Keystone rejected the name, the password, the domain or the project.'
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


class TooManyUploads(application_errors.RetryLater):
    """Too many requests wait for their bodies."""

    code = 'too-many-uploads'
    title = 'Too many requests wait for their bodies'
    detail = 'Too many requests are waiting for their bodies; try again.'


class TooManyLists(application_errors.RetryLater):
    """The responses to lists in progress would need too much memory."""

    code = 'too-many-lists'
    title = 'Too many lists are in progress'
    detail = 'Too many lists are in progress; try again.'


class TooManyChecks(application_errors.RetryLater):
    """Too many password checks are waiting."""

    code = 'too-many-checks'
    title = 'Too many passwords are being checked'
    detail = (
        'Too many password checks are waiting, in total or from your address;'
        ' try again.'
    )


class KeystoneUnavailable(application_errors.RetryLater):
    """Keystone does not answer, or rejects the API's own credentials."""

    code = 'identity-silent'
    title = 'The identity service did not answer'
    detail = 'Keystone cannot validate the token now; try again.'
