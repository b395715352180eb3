# SPDX-License-Identifier: Apache-2.0
"""The version policy of a service: immutable values.

:class:`VersionPolicy` is fixed when the service is built;
:mod:`vobjects.microversions.presets` has those of OpenStack's services.
:class:`~vobjects.versions.Maximum` changes at run time: it is the highest
version that all live engines support. It is passed with every request, and has
the reason why it is not higher.
"""

from __future__ import annotations

import dataclasses
import re

from vobjects.microversions import error_formats, retirement
from vobjects.versions import NULL, Maximum, Version

#: Request and response header of the API-SIG specification.
HEADER = 'OpenStack-API-Version'

#: Environ keys of the negotiated Version, and of the Maximum used for it. A
#: request keeps this maximum even if the current one changes.
MICROVERSION = 'vobjects.microversion'
MAXIMUM = 'vobjects.maximum'

#: Environ keys of the route, set by the application as a template such as
#: ``/v1/things/{name}``, and of the error code, set where a request is
#: rejected.
ROUTE = 'vobjects.route'
ERROR_CODE = 'vobjects.refused'

#: Environ key that is true if the policy accepts fields early.
EARLY = 'vobjects.early'

#: Key of the environ in an ASGI scope.
ENVIRON = 'vobjects.environ'

_SERVICE_TYPE = re.compile(r'[a-z][a-z0-9-]*', re.ASCII)
_PATH = re.compile(r'v[1-9][0-9.]*', re.ASCII)
_HEADER_NAME = re.compile(r'[A-Za-z][A-Za-z0-9-]*', re.ASCII)

#: Names that a template in :attr:`VersionPolicy.response_headers` may contain.
_TEMPLATE_NAMES = dict.fromkeys(
    ('service', 'version', 'minimum', 'maximum', 'experimental'), ''
)


def environ_key(header: str) -> str:
    """Return the key of a header in a WSGI environ."""
    return 'HTTP_' + header.upper().replace('-', '_')


@dataclasses.dataclass(frozen=True, slots=True)
class VersionPolicy:
    """The versions of a service, and its responses about them.

    Identity:

    :ivar service_types: names accepted in the header; the first one is used in
        responses and begins every error code
    :ivar minimum: lowest version
    :ivar maximum: highest version that this build supports
    :ivar default: version of a request without one; null: the minimum
    :ivar help_url: page for people, linked from every error
    :ivar error_url: page about an error, linked instead; ``{code}`` stands for
        the code without the service type; empty: ``help_url``
    :ivar history_url: page with the changes of each version, linked from every
        error about versions; empty: no link

    Requests:

    :ivar legacy_headers: older headers with a bare version as value, used if
        the standard one does not name the service
    :ivar latest_any_case: whether ``LATEST`` is accepted as ``latest``
    :ivar accepts_early: whether fields and types are accepted and shown from
        the microversion in their ``EARLY_VERSION_MAP`` on, although a later
        one documents them; Senlin's clients depend on it

    Responses:

    :ivar response_headers: name and template of further headers; a template
        may contain ``{service}``, ``{version}``, ``{minimum}``, ``{maximum}``
        and ``{experimental}``
    :ivar experimental: whether the operator changed the API's behaviour, which
        ``{experimental}`` in a template shows
    :ivar malformed_status: status for an invalid version (specification: 400)
    :ivar other_service_status: status for a header that names other services
        only; 0: serve the default version, as in the specification
    :ivar unsupported_status: status for a version out of range (specification:
        406)
    :ivar method_missing_status: status for a method that the version lacks:
        404 in the documentation of most services, 400 in Senlin's server and
        its tempest plug-in, 406 in Magnum
    :ivar error_format: function that formats error bodies, see
        :mod:`vobjects.microversions.error_formats`

    Discovery:

    :ivar path: first segment of every path; empty: ``v`` and the major version
    :ivar path_aliases: other segments that clients may use instead
    :ivar version_id: id of the major version; empty: the same as the path
    :ivar versions_status: status of ``/``
    :ivar maximum_keys: properties that show the highest version
    :ivar media_type: media type of the major version; empty: not shown
    :ivar updated: last change of the major version's description, ISO 8601
    :ivar retired: versions whose responses announce their retirement

    :raises ValueError: the values are inconsistent
    """

    service_types: tuple[str, ...]
    minimum: Version
    maximum: Version
    help_url: str
    default: Version = NULL
    history_url: str = ''
    error_url: str = ''
    legacy_headers: tuple[str, ...] = ()
    latest_any_case: bool = False
    accepts_early: bool = False
    response_headers: tuple[tuple[str, str], ...] = ()
    experimental: bool = False
    malformed_status: int = 400
    other_service_status: int = 0
    unsupported_status: int = 406
    method_missing_status: int = 404
    error_format: error_formats.ErrorFormat = error_formats.api_sig
    path: str = ''
    path_aliases: tuple[str, ...] = ()
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
                f'minimum {self.minimum} and maximum {self.maximum} must have'
                ' the same major version'
            )
        if not self.minimum or self.maximum < self.minimum:
            raise ValueError(
                f'minimum {self.minimum} must not be null or above maximum'
                f' {self.maximum}'
            )
        if self.default and not self.minimum <= self.default <= self.maximum:
            raise ValueError(
                f'default {self.default} must be between {self.minimum} and'
                f' {self.maximum}'
            )
        retirement.check(self.retired, self.minimum, self.maximum)

    @property
    def service_type(self) -> str:
        """The name that the service uses in responses."""
        return self.service_types[0]

    @property
    def major(self) -> str:
        """The first segment of every path, such as ``v1``."""
        return self.path or f'v{self.minimum.major}'

    @property
    def versions(self) -> tuple[Version, ...]:
        """Every microversion, oldest first."""
        minors = range(self.minimum.minor, self.maximum.minor + 1)
        return tuple(Version(self.minimum.major, minor) for minor in minors)

    def help_for(self, code: str) -> str:
        """Return the URL of the page about an error.

        :param code: code of the error, without the service type
        """
        return self.error_url.replace('{code}', code) or self.help_url

    def canonical_path(self, path: str) -> str:
        """Return a path in which an alias is replaced by the first segment."""
        for alias in self.path_aliases:
            prefix = f'/{alias}'
            if path == prefix or path.startswith(f'{prefix}/'):
                return f'/{self.major}{path[len(prefix) :]}'
        return path

    def limit(self, maximum: Maximum | None = None) -> Maximum:
        """Return ``maximum`` limited to the versions of this build.

        :param maximum: highest version that live engines support; None: no
            limit
        """
        if maximum is None or maximum.version > self.maximum:
            return Maximum(self.maximum)
        if maximum.version < self.minimum:
            return Maximum(self.minimum, maximum.reason)
        return maximum

    def default_for(self, maximum: Maximum) -> Version:
        """Return the version of a request without one.

        :param maximum: highest version served now, see :meth:`limit`
        """
        return min(self.default or self.minimum, maximum.version)


def _check_names(policy: VersionPolicy) -> None:
    if not policy.service_types:
        raise ValueError('a policy needs at least one service type')
    for name in policy.service_types:
        if not _SERVICE_TYPE.fullmatch(name):
            raise ValueError(f'{name!r} is not a service type')
    for path in (*filter(None, (policy.path,)), *policy.path_aliases):
        if not _PATH.fullmatch(path):
            raise ValueError(f'{path!r} is not a path segment such as v2.1')
    for name in (
        *policy.legacy_headers,
        *(name for name, _template in policy.response_headers),
    ):
        if not _HEADER_NAME.fullmatch(name):
            raise ValueError(f'{name!r} is not the name of a header')
    for name, template in policy.response_headers:
        try:
            template.format_map(_TEMPLATE_NAMES)
        except (KeyError, ValueError, IndexError) as error:
            raise ValueError(
                f'{name}: invalid template {template!r}: {error}; accepted'
                f' names: {", ".join(_TEMPLATE_NAMES)}'
            ) from None
