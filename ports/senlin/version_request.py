# SPDX-License-Identifier: Apache-2.0
"""API versions of Senlin: negotiation, and versioned controller methods.

This module takes the place of ``senlin.api.common.version_request``.
"""

import functools
import operator

import microversion_parse
from senlin.common import exception
from webob import exc

from vobjects import exceptions
from vobjects.controllers import dispatch, frameworks


class APIVersionRequest(frameworks.APIVersionRequest):
    """A version constructed from text, with Senlin's error."""

    __slots__ = ()

    def __new__(cls, version_string=None):
        try:
            return super().__new__(cls, version_string)
        except exceptions.InvalidVersion:
            raise exception.InvalidAPIVersionString(
                version=version_string
            ) from None


def negotiate(request, controller):
    """Set the version of a request from its header.

    :param controller: class of the versions document, which has the range
    :raises webob.exc.HTTPBadRequest: the header is malformed
    :raises senlin.common.exception.InvalidGlobalAPIVersion: the version is not
        served
    """
    text = microversion_parse.get_version(request.headers, 'clustering')
    if text is None:
        request.version_request = APIVersionRequest(
            controller.DEFAULT_API_VERSION
        )
        return
    if text.lower() == 'latest':
        request.version_request = controller.max_api_version()
        return
    try:
        version = APIVersionRequest(text)
    except exception.InvalidAPIVersionString as error:
        raise exc.HTTPBadRequest(str(error)) from None
    minimum = controller.min_api_version()
    maximum = controller.max_api_version()
    if not minimum <= version <= maximum:
        raise exception.InvalidGlobalAPIVersion(
            req_ver=text, min_ver=str(minimum), max_ver=str(maximum)
        )
    request.version_request = version


#: Decorator of controller methods, outermost: ``@api_version('1.1', '1.9')``.
api_version = functools.partial(
    dispatch.api_version,
    adapter=dispatch.RequestAdapter(
        version_of=operator.attrgetter('version_request'),
        as_exception=lambda error: exception.MethodVersionNotFound(
            version=error.version
        ),
    ),
)
