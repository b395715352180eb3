# SPDX-License-Identifier: Apache-2.0
"""Errors that the API returns, and their common body.

::

    VobjectsError
    └── ApiError                   has status, code, title, detail
        ├── NegotiationError       about the version of a request
        │   ├── MalformedVersion        400  header is not SERVICE X.Y
        │   ├── OtherService            400  header names other services only
        │   ├── NotAcceptable           406
        │   │   ├── UnsupportedVersion       outside minimum and maximum
        │   │   ├── NotServedEarly           a server lacks an early feature
        │   │   └── ConversionRejected       a server lacks a type or value
        │   ├── MethodNotAtVersion      404  only other versions have it
        │   ├── MethodRemoved           410  removed in a version; says why
        │   └── ExperimentalMethod      404  the request must opt in
        ├── ...                    of the application; see
        │                          :mod:`.application_errors`
        └── InputError             about the content of a request
            ├── MalformedBody           400  no JSON, or unsafe JSON
            ├── BodyTooLarge            413
            ├── BodyTimeout             408
            ├── MalformedQuery          400  unreadable query string
            └── ValidationError         400  readable, but invalid

A :class:`~vobjects.microversions.version_policy.VersionPolicy` may set other
statuses for the negotiation errors. The body follows the API-SIG errors
guideline. Next to ``errors`` it has the properties that the
service's own clients read; see :mod:`vobjects.microversions.error_formats`.

If another version has the missing feature, the error names it: in its detail,
and in the properties ``available_from`` or ``removed_in`` of its item. If that
version is not served now, the detail also gives the maximum and its reason.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Literal

from vobjects import exceptions
from vobjects.microversions import error_formats, version_ranges
from vobjects.microversions.version_policy import VersionPolicy
from vobjects.microversions.version_ranges import VersionRanges
from vobjects.versions import Maximum, Version


class ApiError(exceptions.VobjectsError):
    """Base class of errors that the API returns to a client.

    :cvar status: HTTP status
    :cvar policy_status: attribute of a policy with the status that replaces
        it; empty: none
    :cvar code: identifier of the problem, without the service type;
        ``[a-z0-9._-]+``
    :cvar title: the problem, the same for each occurrence
    :cvar type_name: name of the error for Senlin's clients
    :ivar detail: this occurrence: the problem, its place and the fix; a class
        may have a default
    :ivar extra: further properties of the error item
    :ivar headers: further headers of the response
    :ivar available_from: API version that has the missing feature; or None
    :ivar removed_in: API version that removed the feature; or None
    """

    status: int = 400
    policy_status: str = ''
    code: str = 'bad-request'
    title: str = 'Bad request'
    type_name: str = 'BadRequest'
    detail: str = ''
    headers: tuple[tuple[str, str], ...] = ()
    available_from: Version | None = None
    removed_in: Version | None = None

    def __init__(
        self, detail: str = '', extra: Mapping[str, str] | None = None
    ) -> None:
        self.detail = detail or self.detail
        self.extra = dict(extra or {})
        super().__init__(self.detail)

    def set_availability(
        self, ranges: VersionRanges, requested: Version
    ) -> None:
        """Record which versions have the feature that this one lacks."""
        self.available_from = version_ranges.next_available(ranges, requested)
        if self.available_from:
            self.extra['available_from'] = str(self.available_from)
        else:
            self.removed_in = version_ranges.last_removal(ranges, requested)
            if self.removed_in:
                self.extra['removed_in'] = str(self.removed_in)

    @property
    def is_about_versions(self) -> bool:
        """Whether another version would accept the request."""
        return self.available_from is not None or self.removed_in is not None

    def status_for(self, policy: VersionPolicy) -> int:
        """Return the HTTP status under a policy."""
        status: int = getattr(policy, self.policy_status, 0)
        return status or self.status

    def message_for(self, policy: VersionPolicy, detail: str) -> str:
        """Return the message that Senlin's clients print."""
        return detail

    def document(
        self,
        policy: VersionPolicy,
        request_id: str = '',
        maximum: Maximum | None = None,
    ) -> dict[str, Any]:
        """Return the body of the response.

        Its detail tells whether the version that it names is served.

        :param policy: version policy of the service
        :param request_id: ``X-OpenStack-Request-ID`` of the response
        :param maximum: highest version served now; None: not known
        """
        detail = self.detail
        needed = self.available_from
        if needed and maximum and needed > maximum.version:
            reason = f', because {maximum.reason}' if maximum.reason else ''
            detail += (
                f' Version {needed} is not served now: the maximum is'
                f' {maximum.version}{reason}.'
            )
        detail = exceptions.message_text(detail)
        links = [{'rel': 'help', 'href': policy.help_for(self.code)}]
        if self.is_about_versions and policy.history_url:
            links.append({'rel': 'history', 'href': policy.history_url})
        item: dict[str, Any] = {
            'code': f'{policy.service_type}.{self.code}',
            'status': self.status_for(policy),
            'title': self.title,
            'detail': detail,
            'links': links,
            **self.extra,
        }
        if request_id:
            item['request_id'] = request_id
        message = exceptions.message_text(self.message_for(policy, detail))
        return policy.error_format(
            error_formats.ErrorInfo(item, self.type_name, message)
        )


class NegotiationError(ApiError):
    """The version of a request cannot be served."""

    @property
    def is_about_versions(self) -> bool:
        return True


class MalformedVersion(NegotiationError):
    """The version header is not valid for this service."""

    policy_status = 'malformed_status'
    code = 'microversion-malformed'
    title = 'Requested microversion is malformed'
    type_name = 'InvalidAPIVersionString'


class OtherService(NegotiationError):
    """The header names other services only."""

    policy_status = 'other_service_status'
    code = 'microversion-of-other-service'
    title = 'Requested microversion is of another service'
    type_name = 'InvalidAPIVersionString'


class NotAcceptable(NegotiationError):
    """The live servers do not serve the requested version."""

    status = 406
    policy_status = 'unsupported_status'
    code = 'microversion-unsupported'
    title = 'Requested microversion is unsupported'
    type_name = 'InvalidGlobalAPIVersion'


class UnsupportedVersion(NotAcceptable):
    """The requested version is outside the range served now.

    :param text: the version as requested
    :param minimum: lowest version served
    :param maximum: highest version served now, and why
    """

    def __init__(self, text: str, minimum: Version, maximum: Maximum) -> None:
        self.text = text
        reason = f', because {maximum.reason}' if maximum.reason else ''
        super().__init__(
            f'Version {exceptions.cut(text)} is not supported by the API.'
            f" Minimum is '{minimum}' and maximum is"
            f" '{maximum.version}'{reason}.",
            {
                'min_version': str(minimum),
                'max_version': str(maximum.version),
            },
        )


class NotServedEarly(NotAcceptable):
    """A live server lacks a field or method that is accepted early.

    :param name: the field or method, for people
    :param version: version of the request
    :param needs: version that documents it; None: not known
    :param limits: lowest and highest version served now
    :param reason: which server lacks it, as a sentence without full stop
    """

    def __init__(
        self,
        name: str,
        version: Version,
        needs: Version | None,
        limits: tuple[Version, Version],
        reason: str,
    ) -> None:
        ranges = (version_ranges.VersionRange(needs),) if needs else ()
        problem = version_ranges.explain(name, ranges, version)
        super().__init__(
            f'{problem}, which accepts it only while every server has it:'
            f' {reason}.',
            {'min_version': str(limits[0]), 'max_version': str(limits[1])},
        )
        self.set_availability(ranges, version)


class ConversionRejected(NotAcceptable):
    """A live server supports neither a value nor a type of the request.

    :param error: names the type, the field and their versions
    :param version: version of the request
    :param limits: lowest and highest version served now
    """

    def __init__(
        self,
        error: exceptions.LossyDowngrade | exceptions.UnsupportedType,
        version: Version,
        limits: tuple[Version, Version],
    ) -> None:
        super().__init__(
            f'A live server does not support this request at {version}:'
            f' {error.message}.',
            {'min_version': str(limits[0]), 'max_version': str(limits[1])},
        )


class MethodNotAtVersion(NegotiationError):
    """The requested version lacks a method that other versions have.

    :param name: the method, for people
    :param version: version of the request
    :param ranges: versions that have it, oldest first
    """

    status = 404
    policy_status = 'method_missing_status'
    code = 'microversion-method-missing'
    title = 'Method is not available at the requested microversion'
    type_name = 'MethodVersionNotFound'

    def __init__(
        self, name: str, version: Version, ranges: VersionRanges
    ) -> None:
        self.version = version
        super().__init__(version_ranges.explain(name, ranges, version) + '.')
        self.set_availability(ranges, version)

    def message_for(self, policy: VersionPolicy, detail: str) -> str:
        # A policy with Senlin's status 400 also needs Senlin's text: its
        # tempest plug-in compares the whole sentence.
        if self.status_for(policy) == 400:
            return (
                f"API version '{self.version}' is not supported on this"
                ' method.'
            )
        return detail


class MethodRemoved(NegotiationError):
    """The method was removed before the requested version.

    :param name: the method, for people
    :param version: first version without it
    :param reason: sentence with the reason and the replacement
    """

    status = 410
    code = 'microversion-method-removed'
    title = 'Method was removed before the requested microversion'
    type_name = 'HTTPGone'

    def __init__(self, name: str, version: Version, reason: str) -> None:
        self.version = version
        super().__init__(
            f"{name} was removed in API version '{version}'. {reason}"
        )


class InputError(ApiError):
    """The body or query of a request is not acceptable."""

    type_name = 'HTTPBadRequest'


class MalformedBody(InputError):
    """The body is not JSON that is safe to process."""

    code = 'body-malformed'
    title = 'Request body is malformed'


class BodyTooLarge(InputError):
    """The body exceeds the maximum length."""

    status = 413
    code = 'body-too-large'
    title = 'Request body is too large'
    type_name = 'RequestLimitExceeded'


class BodyTimeout(InputError):
    """Report a request body that was not complete in time."""

    status = 408
    code = 'body-timeout'
    title = 'Request body is late'


class MalformedQuery(InputError):
    """The query string cannot be read."""

    code = 'query-malformed'
    title = 'Query string is malformed'


@dataclasses.dataclass(frozen=True, slots=True)
class FieldFault:
    """A fault of a field as data, for services with their own messages.

    :ivar kind: whether the field is unknown, is missing, or has an invalid
        value
    :ivar names: name of the field; all names if several are unknown
    :ivar field: the field; None if it is unknown
    :ivar value: value of the field
    :ivar invalid_part: the invalid part of the value
    :ivar type_message: message of jsonschema if the type is wrong
    """

    kind: Literal['unknown', 'missing', 'value']
    names: tuple[str, ...]
    field: Any = None
    value: Any = None
    invalid_part: Any = None
    type_message: str = ''


class ValidationError(InputError):
    """A value is invalid at the version of the request.

    :ivar path: location, for example ``body.cluster.nodes[2]``
    :ivar problem: the problem, without a full stop
    :ivar fault: the same as data, if it concerns a field
    :ivar compat_message: replacement text for ``error.message``, if clients of
        the service expect a specific wording; empty: none
    """

    code = 'validation-failed'
    title = 'Request is not valid'

    def __init__(
        self,
        path: str,
        problem: str,
        fault: FieldFault | None = None,
        *,
        compat_message: str = '',
    ) -> None:
        self.path = path
        self.problem = problem
        self.fault = fault
        self.compat_message = compat_message
        stop = '' if problem.endswith('?') else '.'
        super().__init__(f'{path}: {problem}{stop}')

    @classmethod
    def about_versions(
        cls, path: str, problem: str, ranges: VersionRanges, requested: Version
    ) -> ValidationError:
        """Return the error for a feature that only other versions have."""
        error = cls(path, problem)
        error.set_availability(ranges, requested)
        return error

    def message_for(self, policy: VersionPolicy, detail: str) -> str:
        # Senlin has no wording for errors about versions.
        return (
            detail if self.is_about_versions else self.compat_message or detail
        )
