# SPDX-License-Identifier: Apache-2.0
"""Decorators for schemas, in place of those of ``nova.api.validation``."""

import functools
import re
import types

import nova.conf
from nova import exception
from nova.api.openstack import wsgi
from nova.api.openstack.microversions import Method
from nova.api.validation import validators
from oslo_log import log as logging
from oslo_serialization import jsonutils

from vobjects.controllers import wrapper
from vobjects.controllers.method_spec import spec_of
from vobjects.exceptions import DeclarationError

LOG = logging.getLogger(__name__)


class Schema:
    """A schema, compiled when it is first needed."""

    def __init__(self, definition, is_body):
        self.definition = definition
        self._compiled = functools.cache(
            lambda relax: validators._SchemaValidator(
                definition, relax, is_body
            )
        )

    def check_body(self, body, is_legacy):
        """Validate a request's body; a legacy one loses unknown properties."""
        self._compiled(is_legacy).validate(body)

    def check_query(self, request, values):
        """Validate a query, and remove the parameters the schema ignores."""
        self._compiled(request.is_legacy_v2()).validate(values)
        if self.definition.get('additionalProperties', True):
            known = self.definition.get('properties', ())
            patterns = self.definition.get('patternProperties', ())
            for name in {*request.GET}.difference(known):
                if not any(re.match(pattern, name) for pattern in patterns):
                    del request.GET[name]

    def check_response(self, response):
        """Validate a response as the option ``response_validation`` says."""
        mode = nova.conf.CONF.api.response_validation
        if mode == 'ignore':
            return
        try:
            self._compiled(False).validate(_body_of(response))
        except exception.ValidationError:
            if mode != 'warn':
                raise
            LOG.exception('A response does not match its schema')


def _body_of(response):
    """Return the body of a response as a client decodes it."""
    text = getattr(response, 'body', None)  # of WebOb
    if text is None:
        value = getattr(response, 'obj', response)
        text = wsgi.JSONDictSerializer().serialize(value)
    return jsonutils.loads(text) if text else None


def validated(cls):
    """Mark a controller all of whose methods have schemas."""
    cls._validated = True
    return cls


def _decorator(kind, attribute, is_body=True):
    """Return a decorator for schemas; Nova reads the attribute."""

    def declare(definition, min_version=None, max_version=None):
        add = wrapper.declare(
            kind, Schema(definition, is_body), min_version, max_version, Method
        )

        def decorate(function):
            wrapped = add(function)
            ranges = getattr(spec_of(wrapped), kind)
            for before, after in ranges.gaps():
                raise DeclarationError(
                    f'{function.__qualname__}: no {ranges.name} between'
                    f' {before} and {after}'
                )
            shown = [(each.value.definition, *each[1:3]) for each in ranges]
            setattr(wrapped, attribute, types.SimpleNamespace(_schemas=shown))
            return wrapped

        return decorate

    return declare


schema = _decorator('request_schemas', 'request_body_schemas')
query_schema = _decorator('query_schemas', 'request_query_schemas', False)
response_body_schema = _decorator('response_schemas', 'response_body_schemas')
