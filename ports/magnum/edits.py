# SPDX-License-Identifier: Apache-2.0
"""Edits of Magnum: its version machinery gives way to the library.

Those of :data:`PORT` are for release 23.0.0; :data:`PREVIOUS` is the release
before it, from which a deployment upgrades.
"""

from __future__ import annotations

import dataclasses
import pathlib

from ports.editing import (
    Body,
    Edit,
    Insert,
    Module,
    NewModule,
    Remove,
    Replace,
    Statement,
)
from ports.port import Port

_HERE = pathlib.Path(__file__).parent

_CONTROLLERS = 'tests/unit/api/controllers'

_MIGRATIONS = 'db/sqlalchemy/alembic/versions'

_NEGOTIATION: tuple[Edit, ...] = (
    NewModule('common/fleet.py', _HERE / 'fleet.py'),
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
)

_OBJECTS: tuple[Edit, ...] = (
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


def _import_fleet(path: str, before: str) -> Insert:
    return Insert(path, '', before, 'from magnum.common import fleet')


_FLEET: tuple[Edit, ...] = (
    NewModule(f'{_MIGRATIONS}/5f1ee7c0ffee_ledger.py', _HERE / 'ledger.py'),
    # Processes.
    _import_fleet(
        'common/rpc_service.py', 'from magnum.common import profiler'
    ),
    Insert(
        'common/rpc_service.py',
        'Service.start',
        'self._server.start',
        'fleet.join_as_conductor()',
    ),
    _import_fleet('cmd/api.py', 'from magnum.common import profiler'),
    Insert('cmd/api.py', 'main', 'app =', 'fleet.join_as_api()'),
    _import_fleet('wsgi/api.py', 'from magnum.common import service'),
    Replace(
        'wsgi/api.py',
        'application',
        'application = fleet.joining(api_app.load_app())',
    ),
    # Versions in messages.
    _import_fleet('common/rpc.py', 'from magnum.common import exception'),
    Insert(
        'common/rpc.py',
        '',
        'import magnum.conf',
        'from vobjects.rpc import own_methods',
    ),
    Insert(
        'common/rpc.py',
        'get_client',
        'return messaging',
        'serializer = fleet.arguments(serializer)',
    ),
    _import_fleet('objects/base.py', 'remotable'),
    Insert(
        'objects/base.py',
        'MagnumObjectIndirectionAPI.object_class_action_versions',
        'return',
        'object_versions = fleet.at_cap(object_versions)',
    ),
)


def _serve(options: str = '') -> Statement:
    """Return the edit that lets servers stop without losing messages."""
    return Statement(
        'common/rpc.py',
        'get_server',
        'return messaging',
        'return own_methods.get_server('
        'TRANSPORT, target, endpoints, serializer,'
        f' access_policy=access_policy{options})',
    )


#: The first process of a conductor 23.0.0 starts the server and then forks, so
#: that workers inherit its connections, and a server without its threads. They
#: neither consume messages nor end after SIGTERM. Here, they start all of it.
_WORKERS: tuple[Edit, ...] = (
    Statement('cmd/conductor.py', 'main', 'server.create_periodic_tasks', ''),
    Statement('cmd/conductor.py', 'main', 'server.start', ''),
    Insert(
        'common/rpc_service.py',
        'Service.start',
        'self._server.start',
        'self.create_periodic_tasks()',
    ),
    Insert(
        'common/rpc_service.py',
        'Service.stop',
        'super',
        """\
        self._server.wait()
        fleet.leave()
        """,
    ),
)

#: Expand before contract: both releases work between the two.
_MIGRATION_ORDER: tuple[Edit, ...] = (
    Replace(
        f'{_MIGRATIONS}/b3e1cf4a2d5e_add_node_labels_and_node_taints.py',
        'down_revision',
        "down_revision = '5f1ee7c0ffee'",
    ),
    Replace(
        f'{_MIGRATIONS}/d7e6a4d39fe4_drop_trust_columns.py',
        'down_revision',
        "down_revision = 'b3e1cf4a2d5e'",
    ),
)

_VERSION_MAP = Insert(
    'objects/nodegroup.py',
    'NodeGroup',
    'dbapi',
    """\
    VERSION_MAP = {'1.14': '1.2'}

    def obj_load_attr(self, attrname):
        # An object of 1.1 does not have the fields of 1.2.
        self[attrname] = None
        self.obj_reset_changes([attrname])

    """,
)

PORT = Port(
    name='magnum',
    release='23.0.0',
    edits=(
        *_NEGOTIATION,
        *_OBJECTS,
        *_FLEET,
        _serve(),
        *_WORKERS,
        *_MIGRATION_ORDER,
        _VERSION_MAP,
    ),
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
    requirements=(
        'PyMySQL',
        'hacking',
        'httpx',
        'hypothesis',
        'osprofiler',
    ),
)

PREVIOUS = dataclasses.replace(
    PORT,
    release='22.0.0',
    edits=(
        *_NEGOTIATION,
        Replace('common/fleet.py', 'MAXIMUM', "MAXIMUM = '1.12'"),
        *_OBJECTS,
        *_FLEET,
        _serve(", executor='eventlet'"),
        Insert(
            'common/rpc_service.py',
            'Service.stop',
            'super',
            'fleet.leave()',
        ),
    ),
)
