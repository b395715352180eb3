# SPDX-License-Identifier: Apache-2.0
"""What one service promises about its API versions: pure values.

:class:`Policy` is fixed when the service is built. :class:`Maximum` is not:
it is what all live engines understand right now, so it is handed in with
every request, and it carries the reason why it is not higher. :data:`SENLIN`
is the policy of the clustering service.
"""

from __future__ import annotations

import dataclasses
import re

from vobjects.microversions import retirement
from vobjects.versions import Version

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

_SERVICE_TYPE = re.compile(r'[a-z][a-z0-9-]*', re.ASCII)


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
class Policy:
    """The versions of one service and how it answers about them.

    :ivar service_types: names accepted in the header; the first one is
        answered, and begins every error code
    :ivar minimum: lowest version; what a request without version gets
    :ivar maximum: highest version this build knows
    :ivar help_url: where a human reads on, linked from every error
    :ivar legacy_headers: older headers with a bare version as value, heard
        when the standard one does not name the service, and answered too
    :ivar malformed_status: for a version that is none (specification: 400)
    :ivar unsupported_status: for one out of range (specification: 406)
    :ivar method_missing_status: for a method that the version does not have;
        404 as the documents of all services say, 400 as Senlin's server
        and its tempest plug-in do, 406 as Magnum's
    :ivar updated: when the major version was last described anew, ISO 8601
    :ivar retired: versions on their way out; their responses say so
    :raises ValueError: when the values cannot be a policy
    """

    service_types: tuple[str, ...]
    minimum: Version
    maximum: Version
    help_url: str
    legacy_headers: tuple[str, ...] = ()
    malformed_status: int = 400
    unsupported_status: int = 406
    method_missing_status: int = 404
    updated: str = ''
    retired: tuple[retirement.Retirement, ...] = ()

    def __post_init__(self) -> None:
        if not self.service_types:
            raise ValueError('a policy needs at least one service type')
        for name in self.service_types:
            if not _SERVICE_TYPE.fullmatch(name):
                raise ValueError(f'{name!r} is not a service type')
        if self.minimum.major != self.maximum.major:
            raise ValueError(
                f'{self.minimum} and {self.maximum}: one endpoint has one'
                ' major version'
            )
        if not self.minimum or self.maximum < self.minimum:
            raise ValueError(f'{self.minimum} to {self.maximum} is no range')
        retirement.check(self.retired, self.minimum, self.maximum)

    @property
    def service_type(self) -> str:
        """The name the service answers with."""
        return self.service_types[0]

    @property
    def major(self) -> str:
        """The first segment of every path and the id in discovery: v1."""
        return f'v{self.minimum.major}'

    def limit(self, maximum: Maximum | None = None) -> Maximum:
        """Return ``maximum`` kept within what this build can serve.

        :param maximum: what the live engines allow; None: no engine limits
        """
        if maximum is None or maximum.version > self.maximum:
            return Maximum(self.maximum)
        if maximum.version < self.minimum:
            return Maximum(self.minimum, maximum.reason)
        return maximum


SENLIN = Policy(
    service_types=('clustering',),
    minimum=Version(1, 0),
    maximum=Version(1, 14),
    help_url='https://docs.openstack.org/api-ref/clustering/',
    updated='2016-01-18T00:00:00Z',
)
