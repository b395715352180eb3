# SPDX-License-Identifier: Apache-2.0
"""Edits of Nova 34.0.0: the library negotiates versions and checks calls."""

from __future__ import annotations

import pathlib

from ports.editing import Module, NewModule, Remove, Replace
from ports.port import Port

_HERE = pathlib.Path(__file__).parent

_VERSIONS = 'api/openstack/api_version_request.py'
_WSGI = 'api/openstack/wsgi.py'

_EDITS = (
    NewModule('api/openstack/microversions.py', _HERE / 'microversions.py'),
    Module('api/validation/__init__.py', _HERE / 'validation.py'),
    # The version of a request. The history in the module's docstring stays.
    Remove(_VERSIONS, ('import re', 'from nova.i18n import _')),
    Replace(
        _VERSIONS,
        'from nova import exception',
        """\
        from nova.api.openstack.microversions import APIVersionRequest
        from vobjects import controllers
        """,
    ),
    Remove(_VERSIONS, ('APIVersionRequest',)),
    Replace(
        _VERSIONS,
        'is_supported',
        """\
        def is_supported(req: 'wsgi.Request', version: str) -> bool:
            \"\"\"Return whether a request has at least a version.\"\"\"
            return not req.is_legacy_v2() and controllers.is_supported(
                req, version)
        """,
    ),
    # Negotiation, and the decorators of methods.
    Remove(_WSGI, ('import functools', 'from nova import version')),
    Replace(
        _WSGI,
        'import microversion_parse',
        'from nova.api.openstack import microversions',
    ),
    Replace(
        _WSGI,
        'Request.__init__',
        'api_version_request = microversions.api_version_request',
    ),
    Replace(
        _WSGI,
        'Request.set_api_version_request',
        """\
        def set_api_version_request(self):
            \"\"\"Negotiate the version of the request.\"\"\"
            microversions.negotiate(
                self,
                api_version_request.min_api_version(),
                api_version_request.max_api_version())
        """,
    ),
    Remove(_WSGI, ('WSGICodes',)),
    Replace(_WSGI, 'response', 'response = microversions.response'),
    Replace(_WSGI, 'api_version', 'api_version = microversions.api_version'),
    Replace(
        _WSGI,
        'expected_errors',
        'expected_errors = microversions.expected_errors',
    ),
)

_TESTS = 'nova/tests/unit'

PORT = Port(
    name='nova',
    release='34.0.0',
    edits=_EDITS,
    tests=(f'{_TESTS}/api/openstack',),
    replaced_tests=(
        f'{_TESTS}/api/openstack/test_api_version_request.py'
        '::APIVersionRequestTests::test_version_comparisons',
    ),
    stestr_folder=f'{_TESTS}/api',
    requirements=('openapi-spec-validator', 'osprofiler', 'wsgi-intercept'),
    source_folders=('api-ref', 'doc'),
)
