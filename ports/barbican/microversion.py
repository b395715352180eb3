# SPDX-License-Identifier: Apache-2.0
"""Version policy and middleware of Barbican.

This module takes the place of ``barbican.api.middleware.microversion``.
"""

from barbican.api import middleware as base

from vobjects.controllers.ranges import bound
from vobjects.microversions import middleware, presets
from vobjects.microversions.version_policy import MICROVERSION
from vobjects.versions import Version

POLICY = presets.BARBICAN
VERSIONS = [str(version) for version in POLICY.versions]

#: Environ key by which Barbican's tests set the version of a request.
TEST_KEY = 'key-manager.microversion'


class MicroversionMiddleware(middleware.Microversions, base.Middleware):
    """Filter that negotiates the version of each request."""

    def __init__(self, app):
        # The default error page of the pipeline's server stays.
        super().__init__(app, POLICY, handle_unexpected=False)


def is_supported(request, min_version=None, max_version=None):
    """Return whether the version of a request lies in a range.

    :param min_version: lowest version as text; None: no lower limit
    :param max_version: highest version as text; None: no upper limit
    """
    environ = request.environ
    version = environ.get(MICROVERSION)
    if version is None:  # no middleware: a test
        version = Version.parse(str(environ.get(TEST_KEY, POLICY.minimum)))
    return version.matches(bound(min_version), bound(max_version))
