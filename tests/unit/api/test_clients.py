# SPDX-License-Identifier: Apache-2.0
"""The commands of python-senlinclient, over a socket."""

from __future__ import annotations

import argparse
import contextlib
import threading
import warnings
from collections.abc import Iterator
from typing import Any
from wsgiref import simple_server

import pytest

from api import app
from tests.unit.api import conftest
from tests.unit.api.fake_engine import FakeEngine

with warnings.catch_warnings():
    # Imports of the clients warn.
    warnings.simplefilter('ignore')
    import openstack
    import openstack.exceptions
    from senlinclient import plugin
    from senlinclient.v1 import action as action_commands
    from senlinclient.v1 import build_info as build_info_commands
    from senlinclient.v1 import cluster as cluster_commands
    from senlinclient.v1 import node as node_commands
    from senlinclient.v1 import profile as profile_commands
    from senlinclient.v1 import profile_type as profile_type_commands
    from senlinclient.v1 import service as service_commands

#: The clients cause deprecation warnings.
pytestmark = pytest.mark.filterwarnings('ignore')

SPEC = {'type': 'os.nova.server', 'version': '1.0', 'properties': {'a': 1}}


class Quiet(simple_server.WSGIRequestHandler):
    """Logs nothing."""

    def log_message(self, *arguments: Any) -> None:
        pass


@pytest.fixture(scope='module')
def served() -> Iterator[tuple[str, conftest.Backend]]:
    with serving() as url_and_backend:
        yield url_and_backend


@contextlib.contextmanager
def serving(**options: Any) -> Iterator[tuple[str, conftest.Backend]]:
    """Serve an API with options of ``[api]``."""
    backend = conftest.Backend()
    application = app.build(conftest.make_conf(**options), backend, backend)
    server = simple_server.make_server(
        '127.0.0.1', 0, application, handler_class=Quiet
    )
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f'http://127.0.0.1:{server.server_port}', backend
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextlib.contextmanager
def connected(url: str, microversion: str | None) -> Iterator[Any]:
    options = {'clustering_default_microversion': microversion}
    with openstack.connection.Connection(
        auth_type='none',
        auth={'endpoint': f'{url}/v1'},
        clustering_endpoint_override=f'{url}/v1',
        **(options if microversion else {}),
    ) as connection:
        yield connection.clustering


# What `openstack cluster ...` runs: name of the command, its arguments.
COMMANDS = [
    (profile_type_commands.ProfileTypeList, ''),
    (profile_type_commands.ProfileTypeShow, 'os.nova.server-1.0'),
    (profile_commands.CreateProfile, '--spec-file SPEC p'),
    (profile_commands.CreateProfile, '--spec-file SPEC --metadata a=b p2'),
    (profile_commands.ValidateProfile, '--spec-file SPEC'),
    (profile_commands.ListProfile, ''),
    (profile_commands.ListProfile, '--limit 2 --sort name:desc'),
    (profile_commands.ShowProfile, 'p'),
    (profile_commands.UpdateProfile, '--metadata a=b p'),
    (cluster_commands.CreateCluster, '--profile p c0'),
    (
        cluster_commands.CreateCluster,
        '--config a=b --min-size 1 --max-size 5 --desired-capacity 3'
        ' --timeout 60 --metadata a=b;c=d --profile p c',
    ),
    (cluster_commands.ListCluster, ''),
    (cluster_commands.ListCluster, '--filters name=c;status=INIT'),
    (cluster_commands.ListCluster, '--global-project --full-id --limit 5'),
    (cluster_commands.ShowCluster, 'c'),
    (cluster_commands.UpdateCluster, '--name d --timeout 30 c'),
    (cluster_commands.UpdateCluster, '--config a=b --profile-only true c'),
    (cluster_commands.ResizeCluster, '--capacity 2 c'),
    (cluster_commands.ResizeCluster, '--adjustment -1 --strict c'),
    (cluster_commands.ResizeCluster, '--percentage 50.5 --min-step 1 c'),
    (cluster_commands.ResizeCluster, '--min-size 1 --max-size -1 c'),
    (cluster_commands.ScaleInCluster, '--count 1 c'),
    (cluster_commands.ScaleInCluster, 'c'),
    (cluster_commands.ScaleOutCluster, '--count 1 c'),
    (cluster_commands.CheckCluster, 'c'),
    (cluster_commands.RecoverCluster, '--check true c'),
    (node_commands.CreateNode, '--profile p n'),
    (
        node_commands.CreateNode,
        '--profile p --cluster c --role r --metadata a=b n2',
    ),
    (node_commands.ListNode, ''),
    (node_commands.ListNode, '--cluster c --sort index --limit 3'),
    (node_commands.ShowNode, 'n'),
    (node_commands.ShowNode, '--details n'),
    (node_commands.UpdateNode, '--name m --tainted true n'),
    (node_commands.CheckNode, 'n'),
    (node_commands.RecoverNode, '--check false n'),
    (node_commands.DeleteNode, '--force n'),
    (node_commands.DeleteNode, '--force --force-delete n2'),
    (action_commands.ListAction, ''),
    (action_commands.ListAction, '--filters status=READY --limit 3'),
    (service_commands.ListService, ''),
    (build_info_commands.BuildInfo, ''),
    (cluster_commands.DeleteCluster, '--force c'),
    (cluster_commands.DeleteCluster, '--force --force-delete c'),
    (profile_commands.DeleteProfile, '--force p'),
]


@pytest.fixture(scope='module')
def spec_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp('spec') / 'spec.yaml'
    file.write_text(
        'type: os.nova.server\nversion: 1.0\nproperties:\n  flavor: m1\n'
    )
    return str(file)


@pytest.fixture(scope='module')
def manager(served: Any) -> Iterator[Any]:
    """Return what a command knows of the shell around it."""
    url, backend = served
    backend.engine = FakeEngine()
    # The default version of python-senlinclient.
    with connected(url, plugin.CURRENT_API_VERSION) as clustering:
        yield argparse.Namespace(
            client_manager=argparse.Namespace(clustering=clustering)
        )


@pytest.mark.parametrize(
    ('command', 'line'),
    COMMANDS,
    ids=[f'{c.__name__} {line}' for c, line in COMMANDS],
)
def test_command_when_run_works(
    manager: Any,
    spec_file: str,
    capsys: pytest.CaptureFixture[str],
    command: Any,
    line: str,
) -> None:
    run = command(manager, None)
    arguments = line.replace('SPEC', spec_file).split()
    response = run.take_action(run.get_parser('x').parse_args(arguments))
    if isinstance(response, tuple) and len(response) == 2:
        columns, rows = response
        assert columns is not None
        list(rows)
    printed = capsys.readouterr().out
    assert 'rror' not in printed
    assert 'failed' not in printed
