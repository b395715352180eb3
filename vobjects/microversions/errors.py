# SPDX-License-Identifier: Apache-2.0
"""What the API refuses, and the one body every refusal has.

::

    VobjectsError
    └── ApiError                   has status, code, title, detail
        ├── NegotiationError       about the version of a request
        │   ├── MalformedVersion        400  header is not SERVICE X.Y
        │   ├── OtherService            400  header names others only
        │   ├── UnsupportedVersion      406  outside minimum and maximum
        │   └── MethodNotAtVersion      404  other versions have it
        └── InputError             about what a request says
            ├── MalformedBody           400  no JSON, or unsafe JSON
            ├── BodyTooLarge            413
            ├── MalformedQuery          400  no readable query string
            └── ValidationError         400  readable, but not what is asked

A :class:`~vobjects.microversions.policy.Policy` may give the negotiation
errors another status. The body (:func:`document`) follows the API-SIG errors
guideline; beside ``errors`` it has what the service's own clients read, see
:mod:`vobjects.microversions.bodies`.

Of what another version has, the error says which one: in its detail, and in
the properties ``available_from`` or ``removed_in`` of its item. If even that
one is not served now, it says what is, and why.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from vobjects import exceptions
from vobjects.microversions import availability, bodies
from vobjects.microversions.availability import Range as Range
from vobjects.microversions.availability import Spans
from vobjects.microversions.policy import Maximum, Policy
from vobjects.versions import Version


class ApiError(exceptions.VobjectsError):
    """A refused request.

    :cvar status: HTTP status
    :cvar code: identifies the problem; the service type is put before it
    :cvar title: the problem, the same for each occurrence
    :cvar type_name: the name Senlin's clients know such an error by
    :ivar detail: this occurrence: what was wrong, where, and what would do
    :ivar extra: more properties of the error item
    :ivar headers: more headers of the response
    :ivar needs: the API version that has what this request's lacks; or None
    :ivar removed: the API version that took it away; or None
    """

    status: ClassVar[int] = 400
    code: ClassVar[str] = 'bad-request'
    title: ClassVar[str] = 'Bad request'
    type_name: ClassVar[str] = 'BadRequest'
    headers: tuple[tuple[str, str], ...] = ()
    needs: Version | None = None
    removed: Version | None = None

    def __init__(
        self, detail: str, extra: Mapping[str, str] | None = None
    ) -> None:
        self.detail = detail
        self.extra = dict(extra or {})
        super().__init__(detail)

    def is_of(self, spans: Spans, asked: Version) -> None:
        """Note which versions have what the request's version lacks."""
        self.needs = availability.needed(spans, asked)
        if self.needs:
            self.extra['available_from'] = str(self.needs)
        else:
            self.removed = availability.removed(spans, asked)
            if self.removed:
                self.extra['removed_in'] = str(self.removed)

    @property
    def is_about_versions(self) -> bool:
        """Whether another version would have been served."""
        return self.needs is not None or self.removed is not None

    def detail_under(self, maximum: Maximum | None) -> str:
        """Return the detail, and why even the version it names would fail.

        :param maximum: highest version served now; None: not known
        """
        if not self.needs or not maximum or self.needs <= maximum.version:
            return self.detail
        because = f', because {maximum.reason}' if maximum.reason else ''
        return (
            f'{self.detail} Version {self.needs} is not served now: the'
            f' maximum is {maximum.version}{because}.'
        )

    def status_under(self, policy: Policy) -> int:
        """Return the HTTP status this service answers with."""
        return self.status

    def message_under(self, policy: Policy, detail: str) -> str:
        """Return what Senlin's clients print."""
        return detail

    def document(
        self,
        policy: Policy,
        request_id: str = '',
        maximum: Maximum | None = None,
    ) -> dict[str, Any]:
        """Return the body of the response; see :func:`document`.

        :param maximum: highest version served now, if it is known
        """
        detail = self.detail_under(maximum)
        return document(
            policy,
            status=self.status_under(policy),
            code=self.code,
            title=self.title,
            detail=detail,
            type_name=self.type_name,
            message=self.message_under(policy, detail),
            request_id=request_id,
            about_versions=self.is_about_versions,
            extra=self.extra,
        )


class NegotiationError(ApiError):
    """A request's version cannot be served."""

    @property
    def is_about_versions(self) -> bool:
        return True


class MalformedVersion(NegotiationError):
    """The header is there, but what it asks of us is no version."""

    code = 'microversion-malformed'
    title = 'Requested microversion is malformed'
    type_name = 'InvalidAPIVersionString'

    def status_under(self, policy: Policy) -> int:
        return policy.malformed_status


class OtherService(NegotiationError):
    """The header asks something of other services, and nothing of us."""

    code = 'microversion-of-other-service'
    title = 'Requested microversion is of another service'
    type_name = 'InvalidAPIVersionString'

    def status_under(self, policy: Policy) -> int:
        return policy.other_service_status or self.status


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
        spans = availability.spans_of(ranges)
        super().__init__(availability.sentence(name, spans, version) + '.')
        self.is_of(spans, version)

    def status_under(self, policy: Policy) -> int:
        return policy.method_missing_status

    def message_under(self, policy: Policy, detail: str) -> str:
        # Who asks for Senlin's 400 asks for its text too: its tempest
        # plug-in compares the whole sentence.
        if self.status_under(policy) == 400:
            return (
                f"API version '{self.version}' is not supported on this"
                ' method.'
            )
        return detail


class InputError(ApiError):
    """A request's body or query cannot be accepted."""

    type_name = 'HTTPBadRequest'


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


@dataclasses.dataclass(frozen=True, slots=True)
class FieldFault:
    """What is wrong with a field, for services with sentences of their own.

    :ivar kind: there is no such field, it was not given, or its value is not
        good
    :ivar names: of the field; of all that are unknown
    :ivar field: None: it is unknown
    :ivar value: of the field
    :ivar at_fault: what in the value is wrong
    :ivar of_schema: jsonschema's sentence, where the type is wrong
    """

    kind: Literal['unknown', 'missing', 'value']
    names: tuple[str, ...]
    field: Any = None
    value: Any = None
    at_fault: Any = None
    of_schema: str = ''


class ValidationError(InputError):
    """A value is not what the request's version asks for.

    :ivar path: where, for example ``body.cluster.nodes[2]``
    :ivar problem: what, without a full stop
    :ivar fault: the same as data, where it is a field's
    :ivar said: what a service says of it where clients know ``error.message``
        by heart; empty: nothing else
    """

    code = 'validation-failed'
    title = 'Request is not valid'

    def __init__(
        self,
        path: str,
        problem: str,
        fault: FieldFault | None = None,
        *,
        said: str = '',
    ) -> None:
        self.path = path
        self.problem = problem
        self.fault = fault
        self.said = said
        stop = '' if problem.endswith('?') else '.'
        super().__init__(f'{path}: {problem}{stop}')

    def message_under(self, policy: Policy, detail: str) -> str:
        # Of versions no older service knows.
        return detail if self.is_about_versions else self.said or detail


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
    about_versions: bool = False,
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
    :param about_versions: whether to link the policy's history
    :param extra: more properties of the error item
    """
    links = [{'rel': 'help', 'href': help_url or policy.help_url}]
    if about_versions and policy.history_url:
        links.append({'rel': 'history', 'href': policy.history_url})
    item: dict[str, Any] = {
        'code': f'{policy.service_type}.{code}',
        'status': status,
        'title': title,
        'detail': detail,
        'links': links,
        **(extra or {}),
    }
    if request_id:
        item['request_id'] = request_id
    return policy.body(bodies.Problem(item, type_name, message or detail))
