# SPDX-License-Identifier: Apache-2.0
"""Edits of Magnum 23.0.0: its version machinery gives way to the library."""

from __future__ import annotations

import pathlib

from ports.editing import Body, Module, Remove, Replace
from ports.port import Port

_HERE = pathlib.Path(__file__).parent

_CONTROLLERS = 'tests/unit/api/controllers'

_EDITS = (
    Module('api/controllers/versions.py', _HERE / 'versions.py'),
    Module('api/versioned_method.py'),
    # The metaclass, and the choice of a method in __getattribute__.
    Remove(
        'api/controllers/base.py',
        (
            'import operator',
            'from magnum.api import versioned_method',
            'from magnum.common import exception',
            'from magnum.i18n import _',
            'from webob import exc',
            'VER_METHOD_ATTR',
            'ControllerMetaclass',
        ),
    ),
    Replace(
        'api/controllers/base.py',
        'Controller',
        '''\
        class Controller(rest.RestController):
            """Base class of controllers with versioned methods."""

            api_version = staticmethod(versions.api_version)
        ''',
    ),
    Remove('common/exception.py', ('ApiVersionsIntersect',)),
    # Negotiation.
    Remove(
        'api/controllers/v1/__init__.py',
        (
            'from magnum.api import http_error',
            'from magnum.i18n import _',
            'BASE_VERSION',
            'MIN_VER_STR',
            'MAX_VER_STR',
            'MIN_VER',
            'MAX_VER',
            'Controller._check_version',
        ),
    ),
    Body(
        'api/controllers/v1/__init__.py',
        'Controller._route',
        'ver.negotiate(pecan.request, pecan.response)',
        count=8,
    ),
    # Conversions of objects.
    Replace(
        'objects/__init__.py',
        'from magnum.objects import certificate',
        """\
        from magnum.objects import base
        from magnum.objects import certificate
        """,
    ),
    Replace(
        'objects/__init__.py',
        'from magnum.objects import x509keypair',
        """\
        from magnum.objects import x509keypair
        from vobjects.objects import adoption
        """,
    ),
    Replace(
        'objects/__init__.py',
        'NodeGroup',
        """\
        NodeGroup = nodegroup.NodeGroup
        adoption.adopt(base.MagnumObjectRegistry)
        """,
    ),
)

PORT = Port(
    name='magnum',
    release='23.0.0',
    edits=_EDITS,
    tests=(
        'magnum/tests/unit/api',
        'magnum/tests/unit/conductor',
        'magnum/tests/unit/objects',
    ),
    replaced_tests=(
        f'magnum/{_CONTROLLERS}/test_base.py',
        f'magnum/{_CONTROLLERS}/test_root.py::TestV1Routing',
        f'magnum/{_CONTROLLERS}/test_root.py::TestCheckVersions',
    ),
    stestr_folder='magnum/tests/unit',
    requirements=('hacking', 'hypothesis', 'osprofiler'),
)
