# SPDX-License-Identifier: Apache-2.0
"""Edits of Senlin 16.0.0: versions of requests become declarations."""

from __future__ import annotations

import pathlib

from ports.editing import (
    Entry,
    Module,
    NewModule,
    Remove,
    Replace,
    Statement,
)
from ports.port import Port

_HERE = pathlib.Path(__file__).parent

_WSGI = 'api/common/wsgi.py'

#: Modules of requests, and the fields that a version of their type added.
_REQUESTS: dict[str, tuple[tuple[str, str, str], ...]] = {
    'actions': (('ActionListRequest', 'cluster_id', '1.1'),),
    'build_info': (),
    'cluster_policies': (),
    'clusters': (
        ('ClusterCreateRequestBody', 'config', '1.1'),
        ('ClusterUpdateRequest', 'profile_only', '1.1'),
        ('ClusterUpdateRequest', 'config', '1.2'),
        ('ClusterDelNodesRequest', 'destroy_after_deletion', '1.1'),
        ('ClusterDeleteRequest', 'force', '1.1'),
    ),
    'credentials': (),
    'events': (),
    'nodes': (
        ('NodeUpdateRequest', 'tainted', '1.1'),
        ('NodeDeleteRequest', 'force', '1.1'),
    ),
    'policies': (),
    'policy_type': (),
    'profile_type': (),
    'profiles': (),
    'receivers': (('ReceiverListRequest', 'user', '1.1'),),
    'webhooks': (),
}


def _request_edits():
    for module, changes in _REQUESTS.items():
        path = f'objects/requests/{module}.py'
        yield Replace(
            path,
            'from senlin.objects import base',
            'from senlin.objects import declared as base',
        )
        types = dict.fromkeys(name for name, _, _ in changes)
        if types:
            yield Remove(
                path,
                (
                    'from oslo_utils import versionutils',
                    *(f'{name}.obj_make_compatible' for name in types),
                ),
            )
        for name, field, version in changes:
            yield Entry(
                path, f'{name}.fields', field, f"base.added('{version}', ", ')'
            )


_EDITS = (
    Module('api/common/version_request.py', _HERE / 'version_request.py'),
    Module('api/common/versioned_method.py'),
    # The metaclass, and the choice of a method in __getattribute__.
    Remove(
        _WSGI,
        (
            'from senlin.api.common import versioned_method',
            'VER_METHOD_ATTR',
            'ControllerMetaclass',
        ),
    ),
    Replace(
        _WSGI,
        'Controller',
        '''\
        class Controller(object):
            """Base class of controllers with versioned methods."""

            api_version = staticmethod(version_request.api_version)

            def __init__(self, options):
                self.options = options
                self.rpc_client = rpc_client.get_engine_client()

            def default(self, req, **args):
                raise exc.HTTPNotFound()
        ''',
    ),
    # Negotiation.
    Remove(
        'api/middleware/version_negotiation.py',
        (
            'import microversion_parse as mp',
            'from senlin.common import exception',
        ),
    ),
    Replace(
        'api/middleware/version_negotiation.py',
        'VersionNegotiationFilter._check_version_request',
        """\
        def _check_version_request(self, req, controller):
            vr.negotiate(req, controller)
        """,
    ),
    # The versions of requests.
    NewModule('objects/declared.py', _HERE / 'declared.py'),
    Statement(
        'api/common/util.py',
        'parse_request',
        'obj.obj_make_compatible(',
        'primitive = obj.obj_to_primitive(version)',
    ),
    # The default of a list that must not be empty was an empty list.
    Statement(
        'objects/fields.py',
        'IdentityListField.__init__',
        'if default is None',
        """\
        if default is None:
            default = fields.UnspecifiedDefault if min_items else []
        """,
    ),
    *_request_edits(),
)

PORT = Port(
    name='senlin',
    release='16.0.0',
    edits=_EDITS,
    tests=('senlin/tests/unit/api', 'senlin/tests/unit/objects'),
    replaced_tests=(
        'senlin/tests/unit/api/common/test_util.py'
        '::TestParseRequest::test_version_conversion',
        'senlin/tests/unit/api/common/test_version_request.py'
        '::APIVersionRequestTests::test_version_comparisons',
    ),
    # oslo.middleware no longer has the module that it imports.
    broken_tests=(
        'senlin/tests/unit/api/middleware/test_middleware_filters.py',
    ),
    # xdist and eventlet block each other.
    processes=0,
)
