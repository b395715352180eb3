# SPDX-License-Identifier: Apache-2.0
"""Mix-in that adds ``version_request`` to any framework's request.

::

    class Request(VersionedRequest, webob.Request): ...
"""

from __future__ import annotations

from vobjects.microversions.policy import MICROVERSION
from vobjects.microversions.version_request import APIVersionRequest


class VersionedRequest:
    """Mix-in for request classes with the negotiated version."""

    @property
    def version_request(self) -> APIVersionRequest:
        """The version that the Microversions middleware negotiated.

        :raises LookupError: the request has no version
        """
        for name in ('environ', 'env'):  # Falcon names it env
            environ = getattr(self, name, None)
            if environ and MICROVERSION in environ:
                return APIVersionRequest(str(environ[MICROVERSION]))
        raise LookupError(
            'the request has no API version; put the Microversions'
            ' middleware in front of the application'
        )
