# SPDX-License-Identifier: Apache-2.0
"""Errors of clients.

::

    ClientError
    ├── ServerTooOld      the server's version cannot hold the request
    ├── RequestFailed     the server rejected the request
    └── InvalidResponse   the response is not what the contract says
    NotSent               the server did not send a field (AttributeError)

If client and server have no version in common, the client raises
:class:`vobjects.microversions.client.NoCommonVersion`.
"""

from __future__ import annotations

from vobjects import exceptions
from vobjects.versions import Version


class ClientError(exceptions.VobjectsError):
    """Base class of the errors of a call."""


class ServerTooOld(ClientError):
    """A request needs a newer version than the server has; it was not sent.

    :ivar subject: type and field with the value, or the operation
    :ivar needed: lowest version that can hold the request
    :ivar version: highest version of both
    :ivar reason: why the server has no higher version, if it says so
    """

    def __init__(
        self, subject: str, needed: Version, version: Version, reason: str = ''
    ) -> None:
        self.subject = subject
        self.needed = needed
        self.version = version
        self.reason = reason
        because = f'; the server says: {reason}' if reason else ''
        super().__init__(
            f'{subject} needs API version {needed}, but the maximum of the'
            f' server is {version}{because}'
        )


class RequestFailed(ClientError):
    """The server responded with an error.

    :ivar status: HTTP status
    :ivar detail: text of the server
    :ivar code: code of the error, as in the API-SIG guideline; may be empty
    :ivar request_id: ID of the request in the logs of the server
    :ivar needed: the version that the server recommends; None: none
    :ivar retry_after: seconds until a new attempt may succeed; None: not known
    """

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        code: str = '',
        request_id: str = '',
        needed: Version | None = None,
        retry_after: float | None = None,
    ) -> None:
        self.status = status
        self.detail = detail
        self.code = code
        self.request_id = request_id
        self.needed = needed
        self.retry_after = retry_after
        where = f' (request {request_id})' if request_id else ''
        super().__init__(f'{status}: {detail}{where}')


class InvalidResponse(ClientError):
    """A successful response that the client cannot read."""


class NotSent(exceptions.VobjectsError, AttributeError):
    """An attempt to read a field that the server did not send.

    :ivar field: type and name of the field
    :ivar needed: the version that has the field; None: all have it
    :ivar version: the version of the response
    """

    def __init__(
        self, field: str, needed: Version | None, version: Version
    ) -> None:
        self.needed = needed
        self.version = version
        self.field = field
        why = (
            f'API version {needed} added it'
            if needed is not None and needed > version
            else 'the server left it out'
        )
        super().__init__(
            f'{field} is not in the response, which has version {version}:'
            f' {why}'
        )
