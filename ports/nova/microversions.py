# SPDX-License-Identifier: Apache-2.0
"""Microversions of Nova's API: negotiation, and declarations of methods.

The decorators of ``nova.api.openstack.wsgi`` come from this module, and those
of ``nova.api.validation`` add schemas to the same :class:`Method`.
"""

import functools

import microversion_parse
import webob.exc
from nova import exception
from nova import version as nova_version
from nova.i18n import _
from oslo_log import log as logging

from vobjects import exceptions
from vobjects.controllers import dispatch, frameworks, wrapper
from vobjects.controllers.method_spec import MethodSpec, spec_of
from vobjects.controllers.ranges import RangeMap
from vobjects.microversions.version_policy import MICROVERSION

LOG = logging.getLogger(__name__)


class APIVersionRequest(frameworks.APIVersionRequest):
    """A version constructed from text, with Nova's names and its error."""

    __slots__ = ()

    def __new__(cls, version_string=None):
        try:
            return super().__new__(cls, version_string)
        except exceptions.InvalidVersion:
            raise exception.InvalidAPIVersionString(
                version=version_string
            ) from None

    ver_major = property(lambda self: self.major)
    ver_minor = property(lambda self: self.minor)

    def get_string(self):
        """Return ``'X.Y'``; a null version raises ValueError."""
        if self.is_null():
            raise ValueError
        return str(self)


NULL = APIVersionRequest()

#: Property of a request: its version. The library reads the same environ key.
api_version_request = property(
    lambda request: request.environ.get(MICROVERSION, NULL),
    lambda request, value: request.environ.update({MICROVERSION: value}),
)


def negotiate(request, minimum, maximum):
    """Set the version of a request from its headers."""
    text = microversion_parse.get_version(
        request.headers, 'compute', ['X-OpenStack-Nova-API-Version']
    )
    if text == 'latest':
        found = maximum
    else:
        found = minimum if text is None else APIVersionRequest(text)
    # The headers of the response repeat it even if it is not served.
    request.api_version_request = found
    if not minimum <= found <= maximum:
        raise exception.InvalidGlobalAPIVersion(
            req_ver=text, min_ver=str(minimum), max_ver=str(maximum)
        )


#: Decorator of controller methods, outermost: ``@api_version('2.1', '2.35')``.
api_version = functools.partial(
    dispatch.api_version,
    adapter=dispatch.RequestAdapter(
        as_exception=lambda error: exception.VersionNotFoundForAPIMethod(
            version=error.version
        )
    ),
)


class Declarations(MethodSpec):
    """Nova's methods need no schema at every version."""

    def check(self, first, last, owner):
        """Accept any range."""


class Method(wrapper.MethodWrapper):
    """Checks the calls of a method, with Nova's errors."""

    def __init__(self, function):
        spec = Declarations()
        spec.success_statuses = RangeMap('success status', may_overlap=True)
        super().__init__(function, spec)

    def check_request(self, arguments, named):
        """Validate the body and the query."""
        request = self.request_of(arguments, named)
        version = request.api_version_request
        schema = _schema_for(request, self.spec.request_schemas, version)
        if schema is not None:
            schema.check_body(named['body'], request.is_legacy_v2())
        if self.spec.query_schemas:
            try:
                values = request.GET.dict_of_lists()
            except UnicodeDecodeError:
                raise exception.ValidationError(
                    _('Query string is not UTF-8 encoded')
                ) from None
            schema = _schema_for(request, self.spec.query_schemas, version)
            if schema is not None:
                schema.check_query(request, values)
        return version, request

    def check_response(self, version, request, response):
        """Validate the response as the configuration says."""
        schema = _schema_for(request, self.spec.response_schemas, version)
        if schema is not None:
            schema.check_response(response)

    def check_error(self, version, error):
        """Convert errors that the method does not declare."""
        expected = self.spec.error_statuses.at(version)
        if expected is None or isinstance(error, _ALWAYS_EXPECTED):
            return
        if isinstance(error, webob.exc.WSGIHTTPException):
            if error.code in expected:
                return
        elif isinstance(error, exception.NotSupported):
            raise webob.exc.HTTPBadRequest(explanation=error.format_message())
        LOG.exception('A method of the API raised an undeclared error')
        raise webob.exc.HTTPInternalServerError(
            # The text is a message id of Nova's translations.
            explanation=_('Unexpected API Error. {support}\n{exc}').format(
                support=nova_version.support_string(), exc=type(error)
            )
        )


#: Nova's own handler of exceptions converts them.
_ALWAYS_EXPECTED = (
    exception.Forbidden,
    exception.ValidationError,
    exception.Unauthorized,
)


def _schema_for(request, schemas, version):
    """Return the schema for a request: at 2.0 for the legacy API."""
    if not request.is_legacy_v2():
        return schemas.at(version)
    return next(
        (each.value for each in schemas if each.first in (NULL, (2, 0))), None
    )


def expected_errors(statuses, min_version=None, max_version=None):
    """Declare the statuses of errors that a method may raise."""
    statuses = [statuses] if isinstance(statuses, int) else statuses
    return wrapper.declare(
        'error_statuses', frozenset(statuses), min_version, max_version, Method
    )


def response(status, min_version=None, max_version=None):
    """Declare the status of a success."""
    declare = wrapper.declare(
        'success_statuses', status, min_version, max_version, Method
    )

    def decorate(function):
        wrapped = declare(function)
        # Nova's Resource calls it.
        wrapped.wsgi_codes = functools.partial(_status, spec_of(wrapped))
        return wrapped

    return decorate


def _status(spec, request):
    status = spec.success_statuses.at(request.api_version_request)
    if status is None:
        raise webob.exc.HTTPInternalServerError(
            explanation=_('Unknown return code in API method')
        )
    return status
