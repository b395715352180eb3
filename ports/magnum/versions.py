# SPDX-License-Identifier: Apache-2.0
"""API versions of Magnum: negotiation, and versioned controller methods.

This module takes the place of ``magnum.api.controllers.versions``.
"""

import functools
import operator

import pecan
from magnum.api import http_error
from webob import exc

from vobjects.controllers import dispatch
from vobjects.microversions import errors, negotiation, presets
from vobjects.microversions.version_policy import MICROVERSION

POLICY = presets.MAGNUM
BASE_VER = str(POLICY.minimum)
CURRENT_MAX_VER = str(POLICY.maximum)

_NEGOTIATION = negotiation.Negotiation(POLICY)


def negotiate(request, response):
    """Set ``request.version``, and the version headers of the response.

    :raises webob.exc.HTTPNotAcceptable: Magnum cannot serve the version
    """
    headers, error = _NEGOTIATION.negotiate(request.environ)
    response.headers.update(headers)
    if error is not None:
        raise _not_acceptable(error, response.headers)
    request.version = request.environ[MICROVERSION]


def _not_acceptable(error, headers=None):
    """Return an error of Magnum: status, keys and links are as before."""
    if isinstance(error, errors.UnsupportedVersion):
        return http_error.HTTPNotAcceptableAPIVersion(
            error.detail,
            headers=headers,
            min_version=BASE_VER,
            max_version=CURRENT_MAX_VER,
        )
    return exc.HTTPNotAcceptable(error.detail, headers=headers)


#: Decorator of controller methods, outermost: ``@api_version('1.1', '1.9')``.
api_version = functools.partial(
    dispatch.api_version,
    adapter=dispatch.RequestAdapter(
        pecan.request, operator.attrgetter('version'), _not_acceptable
    ),
)
