# SPDX-License-Identifier: Apache-2.0
"""What one service promises about its API versions: pure values.

:class:`Policy` is fixed when the service is built; the services of OpenStack
have theirs in :mod:`vobjects.microversions.presets`. :class:`Maximum` is not
fixed: it is what all live engines understand right now, so it is handed in
with every request, and it carries the reason why it is not higher.
"""

from __future__ import annotations

import dataclasses
import re

from vobjects.microversions import bodies, retirement
from vobjects.versions import NULL, Version

#: The request and response header of the API-SIG specification.
HEADER = 'OpenStack-API-Version'

#: Where a WSGI environ has the negotiated Version, and the Maximum that it
#: was negotiated under: a whole request sees one maximum, though it moves.
MICROVERSION = 'vobjects.microversion'
MAXIMUM = 'vobjects.maximum'

#: What else a WSGI environ tells: the application, which route it found, as
#: a template such as ``/v1/things/{name}``; and who refuses, the error code.
ROUTE = 'vobjects.route'
REFUSED = 'vobjects.refused'

#: Where a WSGI environ has :class:`Experimental`, if the policy has a header.
EXPERIMENTAL = 'vobjects.experimental'

_SERVICE_TYPE = re.compile(r'[a-z][a-z0-9-]*', re.ASCII)
_PATH = re.compile(r'v[1-9][0-9.]*', re.ASCII)
_HEADER_NAME = re.compile(r'[A-Za-z][A-Za-z0-9-]*', re.ASCII)

#: What a template of :attr:`Policy.response_headers` may name.
_SHOWN = dict.fromkeys(
    ('service', 'version', 'minimum', 'maximum', 'experimental'), ''
)


@dataclasses.dataclass(frozen=True, slots=True)
class Maximum:
    """The highest version served at this moment.

    :ivar version: the version
    :ivar reason: what keeps it from being higher, as a clause that can
        stand after "because"; empty when nothing does
    """

    version: Version
    reason: str = ''


@dataclasses.dataclass(frozen=True, slots=True)
class Experimental:
    """What a request says of methods that may still change.

    :ivar header: where it says so
    :ivar wanted: whether it may call them
    """

    header: str
    wanted: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Policy:
    """The versions of one service and how it answers about them.

    Who it is:

    :ivar service_types: names accepted in the header; the first one is
        answered, and begins every error code
    :ivar minimum: lowest version
    :ivar maximum: highest version this build knows
    :ivar default: what a request without version gets; null: the minimum
    :ivar help_url: where a human reads on, linked from every error
    :ivar history_url: what each version brought, linked from every error
        that is about versions; empty: nowhere

    What it hears:

    :ivar legacy_headers: older headers with a bare version as value, heard
        when the standard one does not name the service
    :ivar latest_any_case: whether ``LATEST`` is ``latest``
    :ivar experimental_header: with ``true`` in it, a request may call what
        is :func:`~vobjects.microversions.outcomes.experimental`, and its
        response says so too; empty: nobody may

    What it answers:

    :ivar response_headers: name and template of headers beside the standard
        one; a template may name ``{service}``, ``{version}``, ``{minimum}``,
        ``{maximum}`` and ``{experimental}``
    :ivar experimental: the operator changed the API's behaviour; where a
        template has ``{experimental}``, it says so (seed 002)
    :ivar malformed_status: for a version that is none (specification: 400)
    :ivar other_service_status: for a header that names other services only;
        0: it is served the default version, as the specification says
    :ivar unsupported_status: for one out of range (specification: 406)
    :ivar method_missing_status: for a method that the version does not have;
        404 as the documents of most services say, 400 as Senlin's server
        and its tempest plug-in do, 406 as Magnum's
    :ivar body: arranges the body of an error, see
        :mod:`vobjects.microversions.bodies`

    Discovery:

    :ivar path: first segment of every path; empty: ``v`` and the major
    :ivar version_id: of the major version; empty: as the path
    :ivar versions_status: of ``/``
    :ivar maximum_keys: under which the highest version is shown
    :ivar media_type: of the major version; empty: none is shown
    :ivar updated: when the major version was last described anew, ISO 8601
    :ivar retired: versions on their way out; their responses say so

    :raises ValueError: when the values cannot be a policy
    """

    service_types: tuple[str, ...]
    minimum: Version
    maximum: Version
    help_url: str
    default: Version = NULL
    history_url: str = ''
    legacy_headers: tuple[str, ...] = ()
    latest_any_case: bool = False
    experimental_header: str = ''
    response_headers: tuple[tuple[str, str], ...] = ()
    experimental: bool = False
    malformed_status: int = 400
    other_service_status: int = 0
    unsupported_status: int = 406
    method_missing_status: int = 404
    body: bodies.Body = bodies.plain
    path: str = ''
    version_id: str = ''
    versions_status: int = 200
    maximum_keys: tuple[str, ...] = ('max_version',)
    media_type: str = ''
    updated: str = ''
    retired: tuple[retirement.Retirement, ...] = ()

    def __post_init__(self) -> None:
        _check_names(self)
        if self.minimum.major != self.maximum.major:
            raise ValueError(
                f'{self.minimum} and {self.maximum}: one endpoint has one'
                ' major version'
            )
        if not self.minimum or self.maximum < self.minimum:
            raise ValueError(f'{self.minimum} to {self.maximum} is no range')
        if self.default and not self.minimum <= self.default <= self.maximum:
            raise ValueError(
                f'the default {self.default} is not between {self.minimum}'
                f' and {self.maximum}'
            )
        retirement.check(self.retired, self.minimum, self.maximum)

    @property
    def service_type(self) -> str:
        """The name the service answers with."""
        return self.service_types[0]

    @property
    def major(self) -> str:
        """The first segment of every path: v1."""
        return self.path or f'v{self.minimum.major}'

    def limit(self, maximum: Maximum | None = None) -> Maximum:
        """Return ``maximum`` kept within what this build can serve.

        :param maximum: what the live engines allow; None: no engine limits
        """
        if maximum is None or maximum.version > self.maximum:
            return Maximum(self.maximum)
        if maximum.version < self.minimum:
            return Maximum(self.minimum, maximum.reason)
        return maximum

    def default_under(self, maximum: Maximum) -> Version:
        """Return what a request without version gets.

        :param maximum: within the policy, see :meth:`limit`
        """
        return min(self.default or self.minimum, maximum.version)


def _check_names(policy: Policy) -> None:
    if not policy.service_types:
        raise ValueError('a policy needs at least one service type')
    for name in policy.service_types:
        if not _SERVICE_TYPE.fullmatch(name):
            raise ValueError(f'{name!r} is not a service type')
    if policy.path and not _PATH.fullmatch(policy.path):
        raise ValueError(f'{policy.path!r} is no path segment such as v2.1')
    for name in (
        *policy.legacy_headers,
        *filter(None, (policy.experimental_header,)),
        *(name for name, _template in policy.response_headers),
    ):
        if not _HEADER_NAME.fullmatch(name):
            raise ValueError(f'{name!r} is not the name of a header')
    for name, template in policy.response_headers:
        try:
            template.format_map(_SHOWN)
        except (KeyError, ValueError, IndexError) as error:
            raise ValueError(
                f'{name}: the template {template!r} names what nothing'
                f' shows: {error}; known: {", ".join(_SHOWN)}'
            ) from None
