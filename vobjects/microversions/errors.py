# SPDX-License-Identifier: Apache-2.0
"""What the API refuses, and the one body every refusal has.

::

    VobjectsError
    └── ApiError                   has status, code, title, detail
        ├── NegotiationError       about the version of a request
        │   ├── MalformedVersion        400  header is not SERVICE X.Y
        │   ├── UnsupportedVersion      406  outside minimum and maximum
        │   └── MethodNotAtVersion      404  other versions have it
        └── InputError             about what a request says
            ├── MalformedBody           400  no JSON, or unsafe JSON
            ├── BodyTooLarge            413
            ├── MalformedQuery          400  no readable query string
            └── ValidationError         400  readable, but not what is asked

A :class:`~vobjects.microversions.policy.Policy` may give the negotiation
errors another status. The body (:func:`document`) follows the API-SIG errors
guideline; beside ``errors`` it has the keys that Senlin's own server answers,
so that openstacksdk and python-senlinclient, which read ``error.message``,
print the same text as keystoneauth.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from vobjects import exceptions
from vobjects.microversions.policy import Maximum, Policy
from vobjects.versions import Version

#: A range of versions; the second None means that it has no end.
Range = tuple[Version, Version | None]


class ApiError(exceptions.VobjectsError):
    """A refused request.

    :cvar status: HTTP status
    :cvar code: identifies the problem; the service type is put before it
    :cvar title: the problem, the same for each occurrence
    :cvar type_name: the name Senlin's clients know such an error by
    :ivar detail: this occurrence: what was wrong, where, and what would do
    :ivar extra: more properties of the error item
    :ivar headers: more headers of the response
    """

    status: ClassVar[int] = 400
    code: ClassVar[str] = 'bad-request'
    title: ClassVar[str] = 'Bad request'
    type_name: ClassVar[str] = 'BadRequest'
    headers: tuple[tuple[str, str], ...] = ()

    def __init__(
        self, detail: str, extra: Mapping[str, str] | None = None
    ) -> None:
        self.detail = detail
        self.extra = dict(extra or {})
        super().__init__(detail)

    def status_under(self, policy: Policy) -> int:
        """Return the HTTP status this service answers with."""
        return self.status

    def message_under(self, policy: Policy) -> str:
        """Return what Senlin's clients print."""
        return self.detail

    def document(self, policy: Policy, request_id: str = '') -> dict[str, Any]:
        """Return the body of the response; see :func:`document`."""
        return document(
            policy,
            status=self.status_under(policy),
            code=self.code,
            title=self.title,
            detail=self.detail,
            type_name=self.type_name,
            message=self.message_under(policy),
            request_id=request_id,
            extra=self.extra,
        )


class NegotiationError(ApiError):
    """A request's version cannot be served."""


class MalformedVersion(NegotiationError):
    """The header is there, but what it asks of us is no version."""

    code = 'microversion-malformed'
    title = 'Requested microversion is malformed'
    type_name = 'InvalidAPIVersionString'

    def status_under(self, policy: Policy) -> int:
        return policy.malformed_status


class UnsupportedVersion(NegotiationError):
    """A version outside what is served now.

    :param text: the version as requested
    :param minimum: lowest version served
    :param maximum: highest version served now, and why
    """

    status = 406
    code = 'microversion-unsupported'
    title = 'Requested microversion is unsupported'
    type_name = 'InvalidGlobalAPIVersion'

    def __init__(self, text: str, minimum: Version, maximum: Maximum) -> None:
        self.text = text
        self.minimum = minimum
        self.maximum = maximum
        because = f', because {maximum.reason}' if maximum.reason else ''
        super().__init__(
            f'Version {exceptions.cut(text)} is not supported by the API.'
            f" Minimum is '{minimum}' and maximum is"
            f" '{maximum.version}'{because}.",
            {
                'min_version': str(minimum),
                'max_version': str(maximum.version),
            },
        )

    def status_under(self, policy: Policy) -> int:
        return policy.unsupported_status


class MethodNotAtVersion(NegotiationError):
    """The requested version lacks a method that other versions have.

    :param name: the method, for people
    :param version: the version of the request
    :param ranges: the versions that have it, oldest first
    """

    status = 404
    code = 'microversion-method-missing'
    title = 'Method is not available at the requested microversion'
    type_name = 'MethodVersionNotFound'

    def __init__(
        self, name: str, version: Version, ranges: tuple[Range, ...]
    ) -> None:
        self.version = version
        self.ranges = ranges
        super().__init__(
            f"{name} is not available at API version '{version}'; it is"
            f' available {_in_words(ranges)}.'
        )

    def status_under(self, policy: Policy) -> int:
        return policy.method_missing_status

    def message_under(self, policy: Policy) -> str:
        # Who asks for Senlin's 400 asks for its text too: its tempest
        # plug-in compares the whole sentence.
        if self.status_under(policy) == 400:
            return (
                f"API version '{self.version}' is not supported on this"
                ' method.'
            )
        return self.detail


class InputError(ApiError):
    """A request's body or query cannot be accepted."""


class MalformedBody(InputError):
    """The body is not JSON that can be handed on safely."""

    code = 'body-malformed'
    title = 'Request body is malformed'


class BodyTooLarge(InputError):
    """The body is longer than the service reads."""

    status = 413
    code = 'body-too-large'
    title = 'Request body is too large'
    type_name = 'RequestLimitExceeded'


class MalformedQuery(InputError):
    """The query string cannot be read."""

    code = 'query-malformed'
    title = 'Query string is malformed'


class ValidationError(InputError):
    """A value is not what the request's version asks for.

    :ivar path: where, for example ``body.cluster.nodes[2]``
    :ivar needs: the API version that has the field, when an older one was
        asked for; else None
    """

    code = 'validation-failed'
    title = 'Request is not valid'

    def __init__(
        self, path: str, problem: str, needs: Version | None = None
    ) -> None:
        self.path = path
        self.needs = needs
        stop = '' if problem.endswith('?') else '.'
        super().__init__(f'{path}: {problem}{stop}')


def document(
    policy: Policy,
    *,
    status: int,
    code: str,
    title: str,
    detail: str,
    type_name: str = 'BadRequest',
    message: str = '',
    request_id: str = '',
    help_url: str = '',
    extra: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the body of an error response.

    :param status: HTTP status; it must be the response's own
    :param code: without the service type; ``[a-z0-9._-]+``
    :param title: the problem, the same for each occurrence
    :param detail: this occurrence
    :param type_name: the exception's name in Senlin's dialect
    :param message: Senlin's dialect of ``detail``, if it must differ
    :param request_id: the response's ``X-OpenStack-Request-ID``
    :param help_url: better help than the policy's
    :param extra: more properties of the error item
    """
    item: dict[str, Any] = {
        'code': f'{policy.service_type}.{code}',
        'status': status,
        'title': title,
        'detail': detail,
        'links': [{'rel': 'help', 'href': help_url or policy.help_url}],
        **(extra or {}),
    }
    if request_id:
        item['request_id'] = request_id
    return {
        'errors': [item],
        'code': status,
        'title': title,
        'explanation': detail,
        'error': {
            'code': status,
            'message': message or detail,
            'type': type_name,
        },
    }


def _in_words(ranges: tuple[Range, ...]) -> str:
    return ' and '.join(_range_in_words(*item) for item in ranges)


def _range_in_words(first: Version, last: Version | None) -> str:
    if last is None:
        return f"from '{first}' on"
    if first == last:
        return f"at '{first}' only"
    return f"from '{first}' to '{last}'"
