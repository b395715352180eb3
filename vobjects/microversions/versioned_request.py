# SPDX-License-Identifier: Apache-2.0
"""``req.version_request``, for the request class of any framework.

::

    class Request(VersionedRequest, webob.Request): ...
"""

from __future__ import annotations

from vobjects.microversions.policy import MICROVERSION
from vobjects.microversions.version_request import APIVersionRequest


class VersionedRequest:
    """Mix-in: the negotiated version, under the seeds' name."""

    @property
    def version_request(self) -> APIVersionRequest:
        """The version that the Microversions middleware negotiated.

        :raises LookupError: nothing negotiated it
        """
        for name in ('environ', 'env'):  # Falcon calls it env
            environ = getattr(self, name, None)
            if environ and MICROVERSION in environ:
                return APIVersionRequest(str(environ[MICROVERSION]))
        raise LookupError(
            'the request has no API version; put the Microversions'
            ' middleware in front of the application'
        )
