# SPDX-License-Identifier: Apache-2.0
"""Fake OpenStack cloud over HTTP, which follows the API references.

It serves Keystone, Glance, Nova, Neutron, Heat and Octavia on one port of
127.0.0.1 and keeps their state in memory. A change completes after
:attr:`Cloud.steps` requests for its resource. Tests can read and change the
state, and make requests fail::

    with cloud.serving() as fake:
        fake.fail('POST', '/compute/v2.1/servers', 403, 'Quota exceeded')
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import re
import ssl
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import flask
from werkzeug import local as werkzeug_local
from werkzeug import serving as werkzeug_serving

Json = dict[str, Any]

_WSGIApplication = Callable[[Json, Any], Any]

#: Key in the environment of a request: the state of its server.
_STATE = 'tests.cloud'

USER, PASSWORD, PROJECT = 'vobjects', 'secret', 'service'

#: ID of the project of the account, which sees resources of all projects.
OWN_PROJECT = 'p'

REGIONS = ('RegionOne', 'RegionTwo')


@dataclasses.dataclass(slots=True)
class Fault:
    """Requests that fail.

    :ivar path: regular expression
    :ivar times: remaining number of failures
    """

    method: str
    path: str
    status: int
    message: str
    times: int
    headers: dict[str, str]


@dataclasses.dataclass(slots=True)
class Loss:
    """Requests that succeed, but whose response is lost.

    :ivar path: regular expression
    :ivar times: remaining number of losses
    :ivar content: of the response instead; None: no response
    """

    method: str
    path: str
    times: int
    content: bytes | None


class Cloud:
    """The state of the cloud.

    :ivar steps: number of GET requests until a change completes
    :ivar ends_in_error: whether new servers end in ERROR
    :ivar failing_deletions: number of deletions after which a server is in
        ERROR, as if its build had failed meanwhile
    :ivar keeps_ports: whether Nova does not release the ports of deleted
        servers
    :ivar refuses_resize: whether a resize keeps the flavor
    :ivar names_of_deleted_stacks: name -> number of requests until another
        stack can have it
    :ivar networks_of_subnets: network IDs by ID of the subnet
    :ivar keypairs: project and name of each
    :ivar requests: method and path of each request
    :ivar bodies: method and path, and JSON body, of each request with a body
    :ivar scopes: method and path, and project, of each authenticated
        request
    :ivar trusts: project and roles by ID of the trust
    :ivar disabled_users: IDs of users whose trusts Keystone rejects
    :ivar project_of: returns the project of a token; None if it is
        invalid
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.steps = 2
        self.ends_in_error = False
        self.failing_deletions = 0
        self.keeps_ports = False
        self.refuses_resize = False
        self.url = ''
        self.token = uuid.uuid4().hex
        self.faults: list[Fault] = []
        self.losses: list[Loss] = []
        self.requests: list[str] = []
        self.bodies: list[tuple[str, Any]] = []
        self.scopes: list[tuple[str, str]] = []
        self.trusts: dict[str, Json] = {}
        self.disabled_users: set[str] = set()
        self.project_of: Callable[[str], str | None] = self._own_project_of
        self.servers: dict[str, Json] = {}
        self.stacks: dict[str, Json] = {}
        self.names_of_deleted_stacks: dict[str, int] = {}
        self.ports: dict[str, Json] = {}
        self.floating_ips: dict[str, Json] = {}
        self.server_groups: dict[str, Json] = {}
        self.keypairs: set[tuple[str, str]] = set()
        self.balancing: dict[str, dict[str, Json]] = {
            kind: {}
            for kind in (
                'loadbalancers',
                'listeners',
                'pools',
                'healthmonitors',
                'members',
            )
        }
        self.flavors = {'1': 'm1.small', '2': 'm1.big'}
        self.images = {new_id(): 'cirros', new_id(): 'debian'}
        self.networks = {new_id(): 'private', new_id(): 'public'}
        self.networks_of_subnets: dict[str, str] = {}
        self.subnets = {new_id(): 'private-subnet'}
        self.security_groups = {new_id(): 'default', new_id(): 'web'}
        self.numbers = itertools.count(2)

    def _own_project_of(self, token: str) -> str | None:
        """Return the project in a token of the fake Keystone."""
        prefix, _, scope = token.partition('.')
        project = scope.partition('.')[0]
        return (project or OWN_PROJECT) if prefix == self.token else None

    def trust_of(self, token: str) -> Json | None:
        """Return the trust that a token is for, if any."""
        return self.trusts.get(token.rpartition('.')[2])

    def id_of(self, kind: str, name: str) -> str:
        """Return the ID of a resource with a name, such as an image."""
        names: dict[str, str] = getattr(self, kind)
        return next(id_ for id_, known in names.items() if known == name)

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
        """Make requests fail.

        :param path: regular expression for the beginning of the path
        :param status: 0: close the connection without a response
        """
        self.faults.append(
            Fault(method, path, status, message, times, headers or {})
        )

    def lose(
        self, method: str, path: str, *, times: int, content: bytes | None
    ) -> None:
        """Lose the responses to requests.

        :param path: regular expression for the beginning of the path
        :param content: of the responses instead; None: close the connection
        """
        self.losses.append(Loss(method, path, times, content))

    def requests_to(self, start: str) -> list[str]:
        """Return the requests with a prefix, such as ``POST /compute``."""
        return [line for line in self.requests if line.startswith(start)]

    def bodies_to(self, start: str) -> list[Any]:
        """Return the bodies of the requests with a prefix."""
        return [body for line, body in self.bodies if line.startswith(start)]

    def leftovers(self) -> Json:
        """Return the remaining resources that cost money."""
        return {
            kind: list(resources)
            for kind in ('servers', 'stacks', 'ports', 'floating_ips')
            if (resources := getattr(self, kind))
        }


def credentials(cloud: Cloud) -> Json:
    """Return the options of keystoneauth for a cloud."""
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


def get_or_404(resources: dict[str, Any], id_: str, kind: str) -> Any:
    """Return a resource, or end the request with 404."""
    if id_ not in resources:
        abort(404, f'{kind} {id_} could not be found.')
    return resources[id_]


def bound(app: flask.Flask, state: object) -> _WSGIApplication:
    """Return an application whose requests are for one state.

    :param state: what :func:`state_of_request` refers to
    """

    def bound_app(environ: Json, start_response: Any) -> Any:
        return app(environ | {_STATE: state}, start_response)

    return bound_app


def state_of_request() -> Any:
    """Return a proxy for the state that the current request is for."""
    return werkzeug_local.LocalProxy(lambda: flask.request.environ[_STATE])


@functools.cache
def application() -> flask.Flask:
    """Return the APIs of all clouds.

    They share it because building it takes longer than most tests.
    """
    from tests.cloud import (
        compute,
        identity,
        images,
        load_balancing,
        network,
        orchestration,
    )

    cloud: Cloud = state_of_request()
    app = flask.Flask('cloud')
    app.url_map.strict_slashes = False
    # Needed to close a connection without a response: see _failed().
    app.config['PROPAGATE_EXCEPTIONS'] = True

    @app.before_request
    def before_request() -> Any:
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
        token = request.headers.get('X-Auth-Token', '')
        trust = cloud.trust_of(token)
        if trust and trust['trustor_user_id'] in cloud.disabled_users:
            # Keystone answers 403 to keystonemiddleware.
            abort(503, 'The Keystone service is temporarily unavailable.')
        project = cloud.project_of(token)
        if project is None:
            abort(401, 'The request you have made requires authentication.')
        else:
            flask.g.project = project
            cloud.scopes.append((line, project))
        return None

    @app.after_request
    def after_request(response: flask.Response) -> flask.Response:
        request = flask.request
        for loss in cloud.losses:
            fits = loss.method == request.method and re.match(
                loss.path, request.path
            )
            if fits and loss.times > 0:
                loss.times -= 1
                if loss.content is None:
                    # See _Handler.connection_dropped().
                    raise ConnectionResetError
                response.set_data(loss.content)
        return response

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
        """Log nothing."""


@contextlib.contextmanager
def listening(
    app: _WSGIApplication, tls: ssl.SSLContext | None = None
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
    with listening(bound(application(), cloud)) as port:
        cloud.url = f'http://127.0.0.1:{port}'
        yield cloud
