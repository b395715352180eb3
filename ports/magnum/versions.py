# SPDX-License-Identifier: Apache-2.0
"""API versions of Magnum: negotiation, and versioned controller methods.

This module takes the place of ``magnum.api.controllers.versions``.
"""

import dataclasses
import functools
import operator

import pecan
from magnum.api import http_error
from magnum.common import fleet
from webob import exc

from vobjects import exceptions
from vobjects.controllers import dispatch
from vobjects.microversions import (
    application_errors,
    errors,
    negotiation,
    presets,
)
from vobjects.microversions.version_policy import MICROVERSION

POLICY = dataclasses.replace(presets.MAGNUM, maximum=fleet.SERVICE.maximum)
BASE_VER = str(POLICY.minimum)

_NEGOTIATION = negotiation.Negotiation(POLICY, fleet.maximum)


def __getattr__(name):
    """Return ``CURRENT_MAX_VER``, which follows the oldest conductor."""
    if name != 'CURRENT_MAX_VER':
        raise AttributeError(name)
    try:
        return str(fleet.maximum().version)
    except exceptions.NoLivePeer:
        raise _http_error(application_errors.NoServer()) from None


def negotiate(request, response):
    """Set ``request.version``, and the version headers of the response.

    :raises webob.exc.HTTPNotAcceptable: Magnum cannot serve the version
    :raises webob.exc.HTTPServiceUnavailable: no conductor has ever been alive
    """
    headers, error = _NEGOTIATION.negotiate(request.environ)
    response.headers.update(headers)
    if error is not None:
        raise _http_error(error, response.headers)
    request.version = request.environ[MICROVERSION]


def _http_error(error, headers=None):
    """Return an error of Magnum: status, keys and links are as before."""
    if isinstance(error, errors.UnsupportedVersion):
        return http_error.HTTPNotAcceptableAPIVersion(
            error.detail,
            headers=headers,
            min_version=BASE_VER,
            max_version=__getattr__('CURRENT_MAX_VER'),
        )
    if isinstance(error, application_errors.NoServer):
        return exc.HTTPServiceUnavailable(error.detail, headers=headers)
    return exc.HTTPNotAcceptable(error.detail, headers=headers)


#: Decorator of controller methods, outermost: ``@api_version('1.1', '1.9')``.
api_version = functools.partial(
    dispatch.api_version,
    adapter=dispatch.RequestAdapter(
        pecan.request, operator.attrgetter('version'), _http_error
    ),
)
