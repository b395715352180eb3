# SPDX-License-Identifier: Apache-2.0
"""A small cloud that answers as OpenStack's API references say, by HTTP.

It serves Keystone, Glance, Nova, Neutron, Heat and Octavia below one port of
127.0.0.1, with the state of each in memory. What takes time in a cloud takes
:attr:`Cloud.steps` looks here. A test reads and changes the state behind
everybody's back, and has requests fail::

    with cloud.serving() as fake:
        fake.fail('POST', '/compute/v2.1/servers', 403, 'Quota exceeded')
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import re
import ssl
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import flask
import pytest
from werkzeug import serving as werkzeug_serving

Json = dict[str, Any]

USER, PASSWORD, PROJECT = 'vobjects', 'secret', 'service'

#: ID of the project of the account; it sees what all projects have.
OWN_PROJECT = 'p'

#: Marks of tests in whose process the cloud is spoken to: openstacksdk warns
#: of how it calls itself.
QUIET = [
    pytest.mark.filterwarnings(f'ignore::openstack.warnings.{name}')
    for name in ('RemovedInSDK50Warning', 'RemovedInSDK60Warning')
]

REGIONS = ('RegionOne', 'RegionTwo')


@dataclasses.dataclass(slots=True)
class Fault:
    """How requests are to fail.

    :ivar path: a regular expression
    :ivar times: how many still
    """

    method: str
    path: str
    status: int
    message: str
    times: int
    headers: dict[str, str]


class Cloud:
    """The state of the cloud.

    :ivar steps: looks at something that is being done until it is done
    :ivar ends_in_error: whether no server can be started
    :ivar refuses_resize: whether servers stay as they are when resized
    :ivar networks_of_subnets: by ID, of subnets that clients have made
    :ivar keypairs: project and name of each
    :ivar requests: method and path of each request there was
    :ivar bodies: JSON of each request that had one, with method and path
    :ivar scopes: the project of each request for which it takes a token,
        with method and path
    :ivar trusts: project and roles, by the ID of the trust
    :ivar project_of: returns the project that a token is for; None: it is
        not good
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.steps = 2
        self.ends_in_error = False
        self.refuses_resize = False
        self.url = ''
        self.token = uuid.uuid4().hex
        self.faults: list[Fault] = []
        self.requests: list[str] = []
        self.bodies: list[tuple[str, Any]] = []
        self.scopes: list[tuple[str, str]] = []
        self.trusts: dict[str, Json] = {}
        self.project_of: Callable[[str], str | None] = self._own_project_of
        self.servers: dict[str, Json] = {}
        self.stacks: dict[str, Json] = {}
        self.ports: dict[str, Json] = {}
        self.floating_ips: dict[str, Json] = {}
        self.server_groups: dict[str, Json] = {}
        self.keypairs: set[tuple[str, str]] = set()
        self.balancing: dict[str, dict[str, Json]] = {}
        self.flavors = {'1': 'm1.small', '2': 'm1.big'}
        self.images = {new_id(): 'cirros', new_id(): 'debian'}
        self.networks = {new_id(): 'private', new_id(): 'public'}
        self.networks_of_subnets: dict[str, str] = {}
        self.subnets = {new_id(): 'private-subnet'}
        self.security_groups = {new_id(): 'default', new_id(): 'web'}
        self.numbers = itertools.count(2)

    def _own_project_of(self, token: str) -> str | None:
        """See the fake's own Keystone, which writes projects into tokens."""
        ours, _, project = token.partition('.')
        return (project or OWN_PROJECT) if ours == self.token else None

    def id_of(self, kind: str, name: str) -> str:
        """Return the ID of what has a name, such as an image."""
        named: dict[str, str] = getattr(self, kind)
        return next(id_ for id_, there in named.items() if there == name)

    def fail(
        self,
        method: str,
        path: str,
        status: int,
        message: str = 'no',
        *,
        times: int = 1_000_000,
        headers: dict[str, str] | None = None,
    ) -> None:
        """Have requests fail.

        :param path: a regular expression, from the beginning
        :param status: 0: the connection is closed without an answer
        """
        self.faults.append(
            Fault(method, path, status, message, times, headers or {})
        )

    def requests_to(self, start: str) -> list[str]:
        """Return the requests that begin so, such as ``POST /compute``."""
        return [line for line in self.requests if line.startswith(start)]

    def bodies_to(self, start: str) -> list[Any]:
        """Return the bodies of the requests that begin so."""
        return [body for line, body in self.bodies if line.startswith(start)]

    def leftovers(self) -> Json:
        """Return what is there that users pay for."""
        return {
            kind: list(found)
            for kind in ('servers', 'stacks', 'ports', 'floating_ips')
            if (found := getattr(self, kind))
        }


def credentials(cloud: Cloud) -> Json:
    """Return the options by which keystoneauth gets at a cloud."""
    return {
        'auth_type': 'password',
        'auth_url': f'{cloud.url}/identity',
        'username': USER,
        'password': PASSWORD,
        'user_domain_id': 'd',
        'project_name': PROJECT,
        'project_domain_id': 'd',
    }


def new_port(cloud: Cloud, network: str) -> str:
    """Add a port in a network and return its ID."""
    from tests.cloud import network as ports

    network_id = cloud.id_of('networks', network)
    return str(ports.new_port(cloud, {'network_id': network_id})['id'])


def new_id() -> str:
    """Return a random UUID as text."""
    return str(uuid.uuid4())


def abort(status: int, message: str) -> None:
    """End the request with an error.

    :raises werkzeug.exceptions.HTTPException: always
    """
    response = flask.jsonify(
        {'error': {'code': status, 'message': message}, 'message': message}
    )
    response.status_code = status
    flask.abort(response)


def get_or_404(found: dict[str, Any], id_: str, what: str) -> Any:
    """Return one of a kind, or end the request with 404."""
    if id_ not in found:
        abort(404, f'{what} {id_} could not be found.')
    return found[id_]


def application(cloud: Cloud) -> flask.Flask:
    """Return the cloud's APIs."""
    from tests.cloud import (
        compute,
        identity,
        images,
        load_balancing,
        network,
        orchestration,
    )

    app = flask.Flask('cloud')
    app.url_map.strict_slashes = False
    # For what ends a connection without an answer: see _failed().
    app.config['PROPAGATE_EXCEPTIONS'] = True

    @app.before_request
    def look() -> Any:
        request = flask.request
        with cloud.lock:
            line = f'{request.method} {request.full_path.rstrip("?")}'
            cloud.requests.append(line)
            if request.data:
                cloud.bodies.append((line, request.get_json(force=True)))
            for fault in cloud.faults:
                fits = fault.method == request.method and re.match(
                    fault.path, request.path
                )
                if fits and fault.times > 0:
                    fault.times -= 1
                    return _failed(fault)
        public = request.path.startswith('/identity') or re.fullmatch(
            r'/\w+(/v[\d.]+)?/?', request.path
        )
        if public:
            return None
        project = cloud.project_of(request.headers.get('X-Auth-Token', ''))
        if project is None:
            abort(401, 'The request you have made requires authentication.')
        else:
            flask.g.project = project
            cloud.scopes.append((line, project))
        return None

    for module in (
        identity,
        images,
        compute,
        network,
        orchestration,
        load_balancing,
    ):
        module.serve(app, cloud)
    return app


def _failed(fault: Fault) -> flask.Response:
    if fault.status == 0:
        # See _Handler.connection_dropped().
        raise ConnectionResetError
    response = flask.jsonify(
        {'error': {'code': fault.status, 'message': fault.message}}
    )
    response.status_code = fault.status
    response.headers.update(fault.headers)
    return response


class _Handler(werkzeug_serving.WSGIRequestHandler):
    protocol_version = 'HTTP/1.1'

    def connection_dropped(
        self, error: BaseException, environ: Any = None
    ) -> None:
        """Close the connection, for Fault.status 0."""
        self.close_connection = True

    def log(self, type: str, message: str, *args: Any) -> None:  # noqa: A002
        """Say nothing."""


@contextlib.contextmanager
def listening(
    app: flask.Flask, tls: ssl.SSLContext | None = None
) -> Iterator[int]:
    """Serve an application on 127.0.0.1 and yield its port."""
    server = werkzeug_serving.make_server(
        '127.0.0.1',
        0,
        app,
        threaded=True,
        request_handler=_Handler,
        ssl_context=tls,
    )
    thread = threading.Thread(
        target=server.serve_forever, args=(0.02,), daemon=True
    )
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextlib.contextmanager
def serving() -> Iterator[Cloud]:
    """Serve a new cloud."""
    cloud = Cloud()
    with listening(application(cloud)) as port:
        cloud.url = f'http://127.0.0.1:{port}'
        yield cloud
