# SPDX-License-Identifier: Apache-2.0
"""Behaviour of the WSGI server that the API relies on.

These are the facts that ``api.serving`` names; another server, or another
release of this one, has to pass here first.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import resource
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import psutil
import pytest

from api import cli, conf, serving
from tests import machine_speed
from tests.functional.api import served
from tests.functional.processes import free_port, is_alive, wait_for
from tests.functional.rest import unique
from tests.unit.api import client, conftest
from vobjects import exceptions

ROOT = pathlib.Path(__file__).parents[3]
TIMEOUT = 120.0 * machine_speed.scale()

#: Seconds; others are answered before these are over.
BODY_TIMEOUT = 10
HEADER_TIMEOUT = 30

#: More than granian has by itself.
IDLE = 1500


class Server:
    """The API in a separate process.

    :param workers: processes
    """

    def __init__(self, workers: int, home: pathlib.Path) -> None:
        self.port = free_port()
        file = home / 'vobjects.conf'
        file.write_text(
            f'[api]\nport = {self.port}\nworkers = {workers}\nthreads = 4\n'
            'max_body_size = 100000\nallowed_hosts = h.example.org\n'
            f'body_timeout = {BODY_TIMEOUT}\n'
            f'header_timeout = {HEADER_TIMEOUT}\n'
            'response_timeout = 2\n'
        )
        self.log = home / 'log'
        with self.log.open('wb') as output:
            self.process = subprocess.Popen(
                [
                    sys.executable,
                    '-m',
                    'tests.functional.api.served',
                    str(file),
                ],
                cwd=ROOT,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        until(lambda: self.is_ready() and len(self.workers()) == workers)

    def workers(self) -> list[int]:
        children = psutil.Process(self.process.pid).children()
        return [child.pid for child in children]

    def is_ready(self) -> bool:
        try:
            return self.send(b'GET / HTTP/1.1').status == 300
        except OSError:
            return False

    def serving(self) -> int:
        """Return the process that serves a request."""
        response = self.send(b'GET /v1/build-info HTTP/1.1')
        return int(response.json['build_info']['engine']['revision'])

    def created(self) -> list[str]:
        """Return the names of the profiles."""
        response = self.send(b'GET /v1/profiles HTTP/1.1')
        return [profile['name'] for profile in response.json['profiles']]

    def send(
        self, line: bytes, headers: bytes = b'', *content: bytes
    ) -> client.Response:
        """Send the bytes of a request on a new connection."""
        with socket.create_connection(('127.0.0.1', self.port)) as sock:
            sock.settimeout(TIMEOUT)
            sock.sendall(
                line + b'\r\nHost: h.example.org\r\nConnection: close\r\n'
            )
            sock.sendall(headers + b'\r\n')
            for part in content:
                sock.sendall(part)
            received = b''
            while part := sock.recv(65536):
                received += part
        return parsed(received)

    def kill(self) -> None:
        with contextlib.suppress(psutil.NoSuchProcess):
            for pid in self.workers():
                os.kill(pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait(TIMEOUT)


def test_ready_is_sent_when_the_port_accepts_connections(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / 'notify')
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notified:
        notified.bind(path)
        notified.settimeout(TIMEOUT)
        monkeypatch.setenv('NOTIFY_SOCKET', path)
        accepted = []

        def receive() -> None:
            assert notified.recv(99) == b'READY=1'
            accepted.append(server.is_ready())

        server = object.__new__(Server)
        with start_thread(receive):
            server.__init__(2, tmp_path)  # type: ignore[misc]
        server.kill()
    assert accepted == [True]


@contextlib.contextmanager
def start_thread(target: Callable[[], None]) -> Iterator[None]:
    thread = threading.Thread(target=target)
    thread.start()
    yield
    thread.join()


def parsed(received: bytes) -> client.Response:
    head, _, content = received.partition(b'\r\n\r\n')
    status, *lines = head.decode('latin-1').split('\r\n')
    headers = dict(line.split(': ', 1) for line in lines)
    return client.Response(
        int(status.split()[1]),
        {name.lower(): value for name, value in headers.items()},
        content,
    )


def until(holds: Callable[[], Any]) -> None:
    wait_for('what should happen', holds, timeout=TIMEOUT)


@pytest.fixture(scope='module')
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(1, tmp_path_factory.mktemp('served'))
    yield running
    running.kill()


@pytest.fixture
def own_server(tmp_path: pathlib.Path) -> Iterator[Server]:
    """Return a server that the test may do harm to."""
    running = Server(2, tmp_path)
    yield running
    running.kill()


LINES = (
    b'OpenStack-API-Version: compute 2.1\r\n'
    b'openstack-api-version: clustering 1.7\r\n'
    b'OpenStack-API-Version: identity 3.4\r\n'
)


def test_header_lines_when_several_are_joined(server: Server) -> None:
    response = server.send(b'GET /v1/clusters HTTP/1.1', LINES)
    assert response.status == 200
    assert response.version == 'clustering 1.7'
    client.check_response(response)


JSON = b'Content-Type: application/json\r\n'
CHUNKED = JSON + b'Transfer-Encoding: chunked\r\n'
PROFILE = json.dumps({'profile': {'name': 'p', 'spec': {}}}).encode()


def chunks(*parts: bytes) -> bytes:
    sent = [b'%x\r\n%s\r\n' % (len(part), part) for part in parts]
    return b''.join(sent) + b'0\r\n\r\n'


def test_body_when_in_chunks_arrives_whole(server: Server) -> None:
    parts = [PROFILE[:1], PROFILE[1:20], PROFILE[20:]]
    response = server.send(
        b'POST /v1/profiles HTTP/1.1', CHUNKED, chunks(*parts)
    )
    assert response.status == 201
    client.check_response(response)


def test_body_when_too_large_is_413_in_chunks_and_at_once(
    server: Server,
) -> None:
    big = b'{"profile": "%s"}' % (b'x' * 200_000)
    for headers, content in (
        (JSON + b'Content-Length: %d\r\n' % len(big), big),
        (CHUNKED, chunks(big[:70_000], big[70_000:])),
        (JSON + b'Content-Length: 99999999999999\r\n', b''),
    ):
        response = server.send(b'POST /v1/profiles HTTP/1.1', headers, content)
        assert response.status == 413
        client.check_response(response)


@pytest.mark.parametrize(
    'headers',
    [
        b'Content-Length: -1\r\n',
        b'Content-Length: x\r\n',
        b'Content-Length: 3\r\nContent-Length: 4\r\n',
    ],
)
def test_length_when_malformed_is_400(server: Server, headers: bytes) -> None:
    response = server.send(b'POST /v1/profiles HTTP/1.1', headers)
    assert response.status == 400


@pytest.mark.parametrize('path', [b'/v1/clusters', b'/', b'/v1/nope'])
def test_head_when_sent_has_no_body(server: Server, path: bytes) -> None:
    response = server.send(b'HEAD %s HTTP/1.1' % path)
    get = server.send(b'GET %s HTTP/1.1' % path)
    assert response.content == b''
    assert response.status == get.status
    assert response.headers['content-length'] == get.headers['content-length']
    client.check_response(response, 'HEAD')


@pytest.mark.parametrize(
    ('path', 'status', 'expected'),
    [
        (b'/v1/clusters/caf%C3%A9', 404, 'café'),
        (b'/v1/clusters/caf\xc3\xa9', 404, 'café'),
        (b'/v1/clusters/a%20b', 404, 'a b'),
        (b'/v1/clusters/a%zzb', 404, 'a%zzb'),
        (b'/v1/clusters/%FF', 400, 'UTF-8'),
        (b'/v1/clusters/%00', 400, 'U+0000'),
        (b'/v1/clusters/a%2Fb', 404, 'nothing at'),
        (b'/v1//clusters', 404, 'nothing at'),
        (b'/v1/./clusters', 404, 'nothing at'),
        (b'/v1/x/../clusters', 404, 'nothing at'),
        (b'/v1/clusters/' + b'x' * 60_000, 400, 'at most 255'),
    ],
)
def test_path_when_encoded_arrives_as_bytes(
    server: Server, path: bytes, status: int, expected: str
) -> None:
    response = server.send(b'GET %s HTTP/1.1' % path)
    assert response.status == status
    assert expected in response.detail
    client.check_response(response)


def test_links_have_scheme_and_host_of_the_request(
    server: Server,
) -> None:
    response = server.send(b'GET /v1 HTTP/1.1')
    link = response.json['version']['links'][0]['href']
    assert link == 'http://h.example.org/v1/'


@pytest.mark.parametrize(
    ('path', 'status', 'headers'),
    [
        (b'/v1/profiles', 400, JSON),
        (b'/v1/profiles', 415, b'Content-Type: text/html\r\n'),
        (b'/v1/profiles/validate', 404, JSON),
        (b'/v1/nope', 404, JSON),
        (b'/', 405, JSON),
        (b'/v1/clusters', 406, b'OpenStack-API-Version: clustering 9.9\r\n'),
        (b'/v1/profiles', 413, JSON),
    ],
)
def test_connection_when_a_late_body_is_rejected_stays_open(
    server: Server, path: bytes, status: int, headers: bytes
) -> None:
    body = b'x' * (200_000 if status == 413 else 8)
    with socket.create_connection(('127.0.0.1', server.port)) as sock:
        sock.settimeout(TIMEOUT)
        for _ in range(3):
            sock.sendall(
                b'POST %s HTTP/1.1\r\nHost: localhost\r\n'
                b'%sContent-Length: %d\r\n\r\n' % (path, headers, len(body))
            )
            time.sleep(0.02)
            sock.sendall(body)
            received = b''
            while not received.endswith(b'}}'):
                part = sock.recv(65536)
                assert part, 'the connection was closed'
                received += part
            assert parsed(received).status == status


#: Failing requests; a whole document comes first.
BROKEN = {
    'size that is no number': b'%x\r\n%s\r\nZZ\r\n' % (len(PROFILE), PROFILE),
    'size that is too large': b'%x\r\n%s\r\n' % (len(PROFILE), PROFILE)
    + b'f' * 17,
    'no last chunk': b'%x\r\n%s\r\n' % (len(PROFILE), PROFILE),
    'half a chunk': b'%x\r\n%s' % (len(PROFILE) + 9, PROFILE),
}


@pytest.mark.parametrize('name', BROKEN)
def test_body_when_chunked_and_cut_off_is_not_processed(
    server: Server, name: str
) -> None:
    profile_name = unique('broken')
    sent = BROKEN[name].replace(b'"p"', b'"%s"' % profile_name.encode())
    with socket.create_connection(('127.0.0.1', server.port)) as sock:
        sock.settimeout(TIMEOUT)
        sock.sendall(
            b'POST /v1/profiles HTTP/1.1\r\nHost: localhost\r\n%s\r\n'
            % CHUNKED
        )
        sock.sendall(sent)
        sock.shutdown(socket.SHUT_WR)
        received = b''
        with contextlib.suppress(ConnectionResetError):
            while part := sock.recv(65536):
                received += part
    assert not received or parsed(received).status == 400
    until(lambda: server.is_ready())
    assert profile_name not in server.created()


@pytest.mark.parametrize(
    ('headers', 'content', 'status', 'expected'),
    [
        (
            b'Transfer-Encoding: gzip, chunked\r\n',
            chunks(PROFILE),
            400,
            'must be chunked',
        ),
        (
            b'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n',
            chunks(PROFILE),
            400,
            'must be chunked',
        ),
        (
            b'Transfer-Encoding: chunked\r\n',
            chunks(*[b' '] * (served.FREE_PARTS + 50)),
            400,
            'parts',
        ),
        # Told before it has sent anything.
        (
            b'Content-Length: 999999\r\nExpect: 100-continue\r\n',
            b'',
            413,
            '999999',
        ),
        (b'Host: localhost\r\nContent-Length: 0\r\n', b'', 400, 'one name'),
        (b'Content_Length: 3\r\nContent-Length: 0\r\n', b'', 400, 'body'),
    ],
)
def test_body_when_framing_is_malformed_is_rejected(
    server: Server, headers: bytes, content: bytes, status: int, expected: str
) -> None:
    response = server.send(
        b'POST /v1/profiles HTTP/1.1', JSON + headers, content
    )
    assert response.status == status
    assert expected in response.detail
    client.check_response(response)


def test_client_when_it_expects_100_continue_gets_it(
    server: Server,
) -> None:
    length = b'Content-Length: %d\r\n' % len(PROFILE)
    with slow_request(
        server.port, length + b'Expect: 100-continue\r\n', b''
    ) as sock:
        assert sock.recv(65536) == b'HTTP/1.1 100 Continue\r\n\r\n'
        sock.sendall(PROFILE)
        assert sock.recv(65536).startswith(b'HTTP/1.1 201 ')


def test_header_when_it_has_underscores_is_ignored(server: Server) -> None:
    response = server.send(
        b'GET /v1/clusters HTTP/1.1',
        b'OpenStack_API_Version: clustering 1.7\r\n',
    )
    assert response.status == 200
    assert response.version == 'clustering 1.0'


def test_connections_when_idle_are_closed(server: Server) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2 * IDLE:
        pytest.skip(f'needs {2 * IDLE} open files')
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2 * IDLE), hard))
    with contextlib.ExitStack() as connections:
        idle = [
            connections.enter_context(
                socket.create_connection(('127.0.0.1', server.port))
            )
            for _ in range(IDLE)
        ]
        assert server.send(b'GET /v1/clusters HTTP/1.1').status == 200
        # None of them had to be closed for it.
        idle[0].setblocking(False)
        with pytest.raises(BlockingIOError):
            idle[0].recv(1)
        for sock in idle:
            sock.settimeout(TIMEOUT)
            assert not sock.recv(1)


# 1 MB fits into the buffers of the kernel, and the last size into no buffer.
@pytest.mark.skipif(sys.platform != 'linux', reason='needs the Linux kernel')
@pytest.mark.parametrize('size', [1_000_000, 3_000_000, 20_000_000])
def test_connections_whose_client_reads_nothing_are_closed(
    server: Server, size: int
) -> None:
    (worker,) = server.workers()
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.connect(('127.0.0.1', server.port))
        sock.sendall(
            b'GET /v1/clusters/large-%d HTTP/1.1\r\nHost: localhost\r\n\r\n'
            % size
        )
        assert sock.recv(12) == b'HTTP/1.1 200'
        began = time.monotonic()
        own_port = sock.getsockname()[1]
        until(
            lambda: (
                own_port
                not in [
                    link.raddr.port
                    for link in psutil.Process(worker).net_connections('tcp')
                    if link.raddr
                ]
            )
        )
    # Not because it was idle.
    assert time.monotonic() - began < HEADER_TIMEOUT
    assert server.send(b'GET /v1/clusters HTTP/1.1').status == 200


def slow_request(
    port: int,
    headers: bytes = b'Content-Length: 100000\r\n',
    part: bytes = b'{',
) -> socket.socket:
    """Return a connection with a request whose body goes on."""
    sock = socket.create_connection(('127.0.0.1', port))
    sock.settimeout(TIMEOUT)
    sock.sendall(
        b'POST /v1/profiles HTTP/1.1\r\nHost: localhost\r\n%s%s\r\n%s'
        % (JSON, headers, part)
    )
    return sock


@pytest.mark.parametrize(
    ('headers', 'part'),
    [
        (b'Content-Length: 99999\r\n', b'{'),
        pytest.param(
            *(b'Content-Length: 99999\r\n', b' ' * 70_000),
            marks=pytest.mark.long,
        ),
        pytest.param(
            *(b'Transfer-Encoding: chunked\r\n', b'1\r\n{\r\n'),
            marks=pytest.mark.long,
        ),
        (b'Transfer-Encoding: chunked\r\n', b'11170\r\n' + b' ' * 70_000),
    ],
)
def test_bodies_when_slow_are_408_and_block_no_others(
    server: Server, headers: bytes, part: bytes
) -> None:
    began = time.monotonic()
    # More than there are threads.
    slow = [slow_request(server.port, headers, part) for _ in range(40)]
    with contextlib.ExitStack() as connections:
        for sock in slow:
            connections.enter_context(sock)
        for _ in range(5):
            assert server.send(b'GET /v1/clusters HTTP/1.1').status == 200
        if time.monotonic() - began < BODY_TIMEOUT:
            # They waited for none of the slow clients.
            assert not select.select(slow, [], [], 0)[0]
        for sock in slow:
            received = b''
            while part := sock.recv(65536):
                received += part
            response = parsed(received)
            assert response.status == 408
            assert response.headers['connection'] == 'close'
            client.check_response(response)


def test_server_when_terminated_finishes_requests_and_leaves_nothing(
    own_server: Server,
) -> None:
    workers = own_server.workers()
    responses: list[client.Response] = []
    slow = threading.Thread(
        target=lambda: responses.append(
            own_server.send(b'GET /v1/clusters/slow HTTP/1.1')
        )
    )
    slow.start()
    until(lambda: served.HANDLING in own_server.log.read_text())
    own_server.process.send_signal(signal.SIGTERM)
    assert own_server.process.wait(TIMEOUT) == 0
    slow.join()
    assert responses[0].status == 404
    assert not any(is_alive(pid) for pid in workers)


def test_server_when_interrupted_ends_well(own_server: Server) -> None:
    own_server.process.send_signal(signal.SIGINT)
    assert own_server.process.wait(TIMEOUT) == 0


def test_worker_when_killed_is_replaced(own_server: Server) -> None:
    killed = own_server.serving()
    os.kill(killed, signal.SIGKILL)
    until(lambda: killed not in own_server.workers())
    until(lambda: len(own_server.workers()) == 2)
    until(own_server.is_ready)
    assert own_server.process.poll() is None


@pytest.mark.skipif(sys.platform != 'linux', reason='asks the Linux kernel')
def test_workers_when_the_parent_is_killed_end(own_server: Server) -> None:
    workers = own_server.workers()
    own_server.process.kill()
    own_server.process.wait(TIMEOUT)
    until(lambda: not any(is_alive(pid) for pid in workers))


#: A worker that stops while its broker is unreachable.
_ENDLESS = """
import time
from api import serving, wsgi
wsgi.application.stop_timeout = 1
wsgi.application.close = lambda: time.sleep(600)
serving._close()
"""


def test_worker_when_it_cannot_leave_is_ended() -> None:
    ended = subprocess.run(
        [sys.executable, '-c', _ENDLESS], cwd=ROOT, timeout=TIMEOUT
    )
    assert ended.returncode == -signal.SIGALRM


def test_port_when_in_use_is_rejected(server: Server) -> None:
    configuration = conftest.make_conf(port=server.port)
    with pytest.raises(OSError, match=f'port {server.port}'):
        serving.serve(configuration, served.load)


def test_host_when_not_loopback_is_rejected(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The command sets it, for its worker processes.
    monkeypatch.setenv(conf.CONFIG_FILES, '')
    file = tmp_path / 'vobjects.conf'
    file.write_text('[api]\nhost = 192.0.2.1\n')
    with pytest.raises(exceptions.VobjectsError, match='loopback'):
        cli.main([f'--config-file={file}'])


@pytest.mark.parametrize(
    ('host', 'loopback'),
    [
        ('127.0.0.1', True),
        ('127.1.2.3', True),
        ('::1', True),
        ('localhost', True),
        ('0.0.0.0', False),
        ('::', False),
        ('192.0.2.1', False),
        ('example.org', False),
    ],
)
def test_host_when_only_this_machine_reaches_it_is_loopback(
    host: str, loopback: bool
) -> None:
    assert conf.is_loopback(host) == loopback
