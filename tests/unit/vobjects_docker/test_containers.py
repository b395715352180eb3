# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses
import json
import pathlib
import socketserver
import ssl
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from engine import http_client
from engine.providers import base
from tests import certificates, memory_limit, raw_server
from tests.cloud import docker as fake
from tests.unit.engine.conftest import make_conf
from vobjects import exceptions
from vobjects_docker.containers import Containers


@pytest.fixture
def daemon() -> Iterator[fake.Daemon]:
    with fake.serving() as served:
        yield served


@pytest.fixture
def host(daemon: fake.Daemon) -> str:
    return f'tcp://127.0.0.1:{daemon.port}'


def configured(*forbidden: str, **options: object) -> Containers:
    values = {'forbidden_networks': forbidden, **options}
    return Containers(make_conf('provider_docker', **values))


@pytest.fixture
def containers() -> Containers:
    return configured()


def test_host_in_a_forbidden_network_is_rejected(
    daemon: fake.Daemon, host: str
) -> None:
    containers = configured('127.0.0.0/8', '::1/128')
    for url in (host, f'tcp://[::1]:{daemon.port}'):
        with pytest.raises(base.ProviderError, match='forbidden network'):
            containers.create(url, 'key', 'web', {'image': 'nginx'})
    assert daemon.containers == {}
    with pytest.raises(http_client.ConfigError, match='nonsense'):
        configured('nonsense')


def test_container_is_created_found_and_deleted(
    containers: Containers, daemon: fake.Daemon, host: str
) -> None:
    properties = {'image': 'nginx', 'command': 'nginx -g x'}
    box = containers.create(host, 'key', 'web', properties)
    assert (box.name, box.status) == ('web', 'running')
    assert box.details['command'] == ['nginx', '-g', 'x']
    assert containers.create(host, 'key', 'web', properties).id == box.id
    assert containers.find(host, 'key') == box
    assert containers.find(host, 'other') is None
    containers.delete(host, box.id)
    containers.delete(host, box.id)
    assert daemon.containers == {}
    with pytest.raises(base.ContainerNotFound, match='404: No such container'):
        containers.get(host, box.id)


def test_container_that_was_not_started_is_started(
    containers: Containers, daemon: fake.Daemon, host: str
) -> None:
    box = containers.create(host, 'key', 'web', {'image': 'nginx'})
    daemon.containers[box.id]['State']['Status'] = 'created'
    again = containers.create(host, 'key', 'web', {'image': 'nginx'})
    assert (again.id, again.status) == (box.id, 'running')


def test_image_when_missing_on_the_host_is_pulled(
    containers: Containers, daemon: fake.Daemon, host: str
) -> None:
    containers.create(host, 'key', 'db', {'image': 'redis:7'})
    assert 'redis:7' in daemon.images


def test_pull_that_fails_after_its_beginning_is_reported(
    containers: Containers, daemon: fake.Daemon, host: str
) -> None:
    daemon.broken.add('redis:7')
    with pytest.raises(
        base.ProviderError, match=r'image redis:7: .* verification failed'
    ):
        containers.create(host, 'key', 'db', {'image': 'redis:7'})
    assert daemon.containers == {}


@pytest.mark.parametrize(
    ('messages', 'expected'),
    [
        (b'{"error": "a\\u0000\\ud800\\u001b"}', r'image none: a\?\?\?$'),
        (b'{"error": "%s"}' % (b'x' * 5000), r'image none: x{999}…$'),
        (b'{"error": {"a": 1%s}}' % (b'0' * 30), 'image none: .*10000'),
        (b'{"error": 1%s}' % (b'0' * 5000), 'No such image'),
        (b'[' * 100_000, 'No such image'),
        (b'\xff\xfe\0', 'No such image'),
        (b'', 'No such image'),
    ],
)
def test_malformed_messages_about_a_pull_are_errors(
    messages: bytes, expected: str
) -> None:
    missing = raw_server.answering({'message': 'No such image: none'}, 404)

    def reply(connection: Any, head: bytes) -> None:
        if head.startswith(b'GET /version '):
            raw_server.answering({'ApiVersion': '1.44'})(connection, head)
        elif b'/containers/json' in head:
            raw_server.answering([])(connection, head)
        elif b'/images/create' in head:
            size = b'Content-Length: %d\r\n\r\n' % len(messages)
            connection.sendall(raw_server.OK + size + messages)
        else:
            missing(connection, head)

    with (
        raw_server.serving(reply) as port,
        pytest.raises(base.ProviderError, match=expected) as caught,
    ):
        configured().create(
            f'tcp://127.0.0.1:{port}', 'k', 'n', {'image': 'none'}
        )
    assert len(str(caught.value)) < 1200
    assert str(caught.value).isprintable()


def test_container_that_is_being_removed_is_awaited(
    containers: Containers, daemon: fake.Daemon, host: str
) -> None:
    box = containers.create(host, 'key', 'web', {'image': 'nginx'})
    daemon.removing.add(box.id)
    containers.delete(host, box.id)
    assert daemon.containers == {}
    assert daemon.removals[-1]['v'] == 'True'


def test_command_that_cannot_be_read_is_reported(
    containers: Containers, daemon: fake.Daemon, host: str
) -> None:
    properties = {'image': 'nginx', 'command': 'sh -c "x'}
    with pytest.raises(base.ProviderError, match='No closing quotation'):
        containers.create(host, 'key', 'web', properties)
    assert daemon.containers == {}


def test_long_command_is_described_in_part(
    containers: Containers, daemon: fake.Daemon, host: str
) -> None:
    box = containers.create(host, 'key', 'web', {'image': 'nginx'})
    daemon.containers[box.id]['Config']['Cmd'] = [
        '\0' + 'x' * 9999,
        *['y'] * 999,
    ]
    shown = containers.get(host, box.id).details['command']
    assert (len(shown), len(shown[0]), shown[0][:2]) == (256, 4096, '?x')


def test_unknown_image_is_reported(
    containers: Containers, daemon: fake.Daemon, host: str
) -> None:
    with pytest.raises(base.ProviderError, match='denied for none'):
        containers.create(host, 'key', 'db', {'image': 'none'})
    assert daemon.containers == {}


def test_operations_lead_to_their_statuses(
    containers: Containers, daemon: fake.Daemon, host: str
) -> None:
    box = containers.create(host, 'key', 'web', {'image': 'nginx'})

    def after(operation: str, **parameters: int) -> str:
        return containers.operate(host, box.id, operation, parameters).status

    assert after('pause') == after('pause') == 'paused'
    assert after('unpause') == after('unpause') == 'running'
    assert after('restart', wait_time=3) == 'running'
    assert daemon.waits[-1] == '3'
    after('pause')
    assert after('restart') == 'running'
    assert containers.rename(host, box.id, 'other').name == 'other'
    daemon.containers[box.id]['State']['Status'] = 'exited'
    with pytest.raises(base.ProviderError, match=r'409: .* is not running'):
        after('pause')
    with pytest.raises(base.ProviderError, match=r'500: .* is not paused'):
        after('unpause')


def test_used_name_is_reported(containers: Containers, host: str) -> None:
    containers.create(host, 'one', 'web', {'image': 'nginx'})
    with pytest.raises(base.ProviderError, match='409: Conflict'):
        containers.create(host, 'two', 'web', {'image': 'nginx'})


@pytest.mark.parametrize('requests', [1, 3])
def test_container_that_another_engine_creates_is_awaited(
    containers: Containers, daemon: fake.Daemon, host: str, requests: int
) -> None:
    box = containers.create(host, 'key', 'web', {'image': 'nginx'})
    daemon.create_slowly(box.id, requests)
    again = containers.create(host, 'key', 'web', {'image': 'nginx'})
    assert (again.id, again.status) == (box.id, 'running')
    daemon.create_slowly(box.id, requests)
    assert containers.create(host, 'b', 'db', {'image': 'nginx'}).id != box.id
    while not daemon.lists(box.id):
        pass
    found = containers.find(host, 'key')
    assert found is not None
    assert found.id == box.id


def test_container_that_is_never_ready_is_reported(
    daemon: fake.Daemon, host: str
) -> None:
    containers = configured(timeout=1)
    box = containers.create(host, 'key', 'web', {'image': 'nginx'})
    daemon.create_slowly(box.id, 10_000)
    with pytest.raises(
        base.ProviderError, match='web is being created, and not ready within'
    ) as caught:
        containers.create(host, 'key', 'web', {'image': 'nginx'})
    assert not isinstance(caught.value, base.NotFound)


def test_host_that_does_not_answer_is_an_error(
    containers: Containers,
) -> None:
    # No process listens on port 1 of this machine.
    for url, reason in (
        ('tcp://127.0.0.1:1', 'Connection refused'),
        ('unix:///none/docker.sock', 'No such file or directory'),
    ):
        with pytest.raises(
            base.ProviderError, match=f'its host does not answer: {reason}$'
        ):
            containers.find(url, 'key')


def test_container_without_a_host_is_rejected(
    containers: Containers,
) -> None:
    with pytest.raises(base.ProviderError, match='provider = docker'):
        containers.create(base.NO_HOST, 'key', 'web', {'image': 'nginx'})


def test_daemon_on_a_unix_socket_is_reached_without_a_proxy(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No process listens on port 1 of this machine.
    monkeypatch.setenv('HTTP_PROXY', 'http://127.0.0.1:1')
    monkeypatch.setenv('http_proxy', 'http://127.0.0.1:1')
    monkeypatch.delenv('no_proxy', raising=False)
    monkeypatch.delenv('NO_PROXY', raising=False)
    path = str(tmp_path / 'docker.sock')

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            head = self.request.recv(65536)
            box = SHOWN if b'/containers/' in head else {'ApiVersion': '1.44'}
            raw_server.answering(box)(self.request, head)

    with socketserver.ThreadingUnixStreamServer(path, Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            # The path is not an address, so no network is forbidden.
            containers = configured('0.0.0.0/0', '::/0')
            assert containers.get(f'unix://{path}', 'a1').name == 'web'
        finally:
            server.shutdown()
            thread.join()


@dataclasses.dataclass
class Secured:
    """A daemon that requires client certificates of an authority."""

    authority: certificates.CertificateAuthority
    client: tuple[str, str]
    port: int

    def look(self, address: str = '127.0.0.1', **options: object) -> None:
        """Look for a container at an address of the daemon."""
        certificate, key = self.client
        tls_options = {
            'tls': True,
            'tls_ca_file': str(self.authority.file),
            'tls_cert_file': certificate,
            'tls_key_file': key,
            **options,
        }
        host = f'tcp://{address}:{self.port}'
        assert configured(**tls_options).find(host, 'key') is None


@pytest.fixture(scope='module')
def secured(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Secured]:
    authority = certificates.CertificateAuthority(
        tmp_path_factory.mktemp('tls')
    )
    context = ssl.create_default_context(
        ssl.Purpose.CLIENT_AUTH, cafile=authority.file
    )
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_cert_chain(*authority.sign('daemon', '127.0.0.1'))
    with fake.serving(context) as daemon:
        yield Secured(authority, authority.sign('client'), daemon.port)


def test_daemon_is_reached_by_tls(secured: Secured) -> None:
    secured.look()


def test_daemon_of_another_authority_is_rejected(
    secured: Secured, tmp_path: pathlib.Path
) -> None:
    other = certificates.CertificateAuthority(tmp_path, 'other')
    with pytest.raises(
        base.ProviderError, match=r'no TLS .*: .*certificate'
    ) as caught:
        secured.look(tls_ca_file=str(other.file))
    assert '127.0.0.1' not in str(caught.value)
    with pytest.raises(base.ProviderError, match=r'no TLS .*: .*certificate'):
        secured.look(tls_ca_file=None)


@pytest.mark.filterwarnings('ignore:Unverified HTTPS request')
def test_certificate_when_tls_verify_is_off_is_not_checked(
    secured: Secured, tmp_path: pathlib.Path
) -> None:
    other = certificates.CertificateAuthority(tmp_path, 'other')
    secured.look(tls_ca_file=str(other.file), tls_verify=False)


def test_certificate_of_another_address_is_rejected(
    secured: Secured,
) -> None:
    with pytest.raises(base.ProviderError, match=r'no TLS .*localhost'):
        secured.look('localhost')


def test_client_certificate_when_the_daemon_rejects_it_is_an_error(
    secured: Secured, tmp_path: pathlib.Path
) -> None:
    certificate, key = certificates.CertificateAuthority(tmp_path).sign(
        'stranger'
    )
    with pytest.raises(base.ProviderError, match='Docker daemon of its host'):
        secured.look(tls_cert_file=certificate, tls_key_file=key)


def test_daemon_without_tls_is_rejected(
    secured: Secured, daemon: fake.Daemon
) -> None:
    with pytest.raises(base.ProviderError, match=r'no TLS with the Docker'):
        dataclasses.replace(secured, port=daemon.port).look()


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'tls_ca_file': 'FILE'}, 'tls_ca_file needs tls = true'),
        (
            {'tls': True, 'tls_ca_file': '/none'},
            'tls_ca_file = /none: No such file',
        ),
        ({'tls': True, 'tls_cert_file': 'FILE'}, 'go together'),
    ],
)
def test_invalid_tls_options_are_rejected_at_start(
    options: dict[str, object], message: str
) -> None:
    tls_options = {
        name: __file__ if value == 'FILE' else value
        for name, value in options.items()
    }
    with pytest.raises(exceptions.TlsConfigError, match=message):
        configured(**tls_options)


@pytest.mark.parametrize(
    'trickle', [raw_server.trickle_head, raw_server.trickle_body]
)
def test_daemon_that_trickles_times_out(
    trickle: Callable[[threading.Event], raw_server.Reply],
) -> None:
    stop = threading.Event()
    with raw_server.serving(trickle(stop)) as port:
        with pytest.raises(base.ProviderError, match=r'within 0\.5 sec'):
            configured(timeout=0.5).find(f'tcp://127.0.0.1:{port}', 'key')
        stop.set()


def test_daemon_that_floods_uses_little_memory() -> None:
    with raw_server.serving(raw_server.flood) as port:
        printed = memory_limit.run(
            f"""
import engine.providers.base
from tests.unit.vobjects_docker.test_containers import configured
try:
    configured().find('tcp://127.0.0.1:{port}', 'key')
except engine.providers.base.ProviderError as error:
    print(error)
""",
            memory=100 * 2**20,
        )
    assert 'could not look for' in printed


def test_daemon_that_redirects_is_not_followed() -> None:
    called = threading.Event()

    def reply(*_: object) -> None:
        called.set()

    with (
        raw_server.serving(reply) as inside,
        raw_server.serving(
            raw_server.redirecting(f'http://127.0.0.1:{inside}/secret')
        ) as port,
        pytest.raises(base.ProviderError, match='its host redirects'),
    ):
        configured().find(f'tcp://127.0.0.1:{port}', 'key')
    assert not called.is_set()


SHOWN = {
    'Id': 'a1',
    'Name': '/web',
    'State': {'Status': 'running', 'ExitCode': 0},
    'Config': {'Image': 'nginx', 'Cmd': ['nginx']},
}

ODD = [
    None,
    [],
    'x',
    7,
    {},
    {'ApiVersion': 7},
    {'ApiVersion': 'x.y'},
    {'message': {'a': 1}},
    {'message': None},
    {**SHOWN, 'Id': 'x' * 1000},
    {**SHOWN, 'Id': '../x'},
    {**SHOWN, 'Name': None},
    {**SHOWN, 'State': []},
    {**SHOWN, 'State': {'Status': 'x' * 1000}},
    {**SHOWN, 'Config': {'Cmd': 'x'}},
    {**SHOWN, 'Config': {'Image': 'x\0'}},
    {**SHOWN, 'Created': '\udfff'},
    {**SHOWN, 'State': {'Status': 'running', 'ExitCode': 10**30}},
]


def after_version(reply: raw_server.Reply) -> raw_server.Reply:
    """Return a reply to all requests except that for the version."""

    def reply_to(connection: Any, head: bytes) -> None:
        asks_version = head.startswith(b'GET /version ')
        version = raw_server.answering({'ApiVersion': '1.44'})
        (version if asks_version else reply)(connection, head)

    return reply_to


@pytest.mark.parametrize('response', ODD)
@pytest.mark.parametrize('status', [200, 404, 500])
def test_malformed_response_is_an_error(response: object, status: int) -> None:
    """Whatever it answers to each of the requests."""

    reply_always = raw_server.answering(response, status)
    containers = configured()
    for reply in (reply_always, after_version(reply_always)):
        with raw_server.serving(reply) as port:
            host = f'tcp://127.0.0.1:{port}'
            with pytest.raises(base.ProviderError, match='could not'):
                containers.get(host, 'a1')
            with pytest.raises(base.ProviderError, match='could not'):
                containers.create(host, 'k', 'n', {'image': 'i'})


def test_other_404_is_not_taken_for_a_missing_container() -> None:
    missing = raw_server.answering({'message': 'sandbox a1 not found'}, 404)
    with raw_server.serving(after_version(missing)) as port:
        for method in (configured().get, configured().delete):
            with pytest.raises(
                base.ProviderError, match='404: sandbox a1'
            ) as caught:
                method(f'tcp://127.0.0.1:{port}', 'a1')
            assert not isinstance(caught.value, base.NotFound)


def test_message_of_a_daemon_is_cut() -> None:
    response = raw_server.answering({'message': 'x' * 100_000}, 500)
    with (
        raw_server.serving(after_version(response)) as port,
        pytest.raises(base.ProviderError) as caught,
    ):
        configured().get(f'tcp://127.0.0.1:{port}', 'a1')
    assert len(str(caught.value)) < 1100


def test_message_of_a_daemon_with_unstorable_characters_is_cleaned() -> None:
    response = raw_server.answering({'message': 'a\0b\ud800c'}, 500)
    with (
        raw_server.serving(after_version(response)) as port,
        pytest.raises(base.ProviderError, match=r'500: a\?b\?c'),
    ):
        configured().get(f'tcp://127.0.0.1:{port}', 'a1')


def test_credentials_of_the_engines_user_are_not_sent(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / 'config.json').write_text(
        json.dumps(
            {
                'auths': {'registry.example': {'auth': 'dTpzZWNyZXQ='}},
                'proxies': {'default': {'httpProxy': 'http://u:secret@p'}},
            }
        )
    )
    monkeypatch.setenv('DOCKER_CONFIG', str(tmp_path))
    heads: list[bytes] = []

    def reply(connection: Any, head: bytes) -> None:
        heads.append(head)
        if b'/version ' in head:
            response = raw_server.answering({'ApiVersion': '1.44'})
        elif b'/images/create' in head:
            response = raw_server.answering({'status': 'ok'})
        elif b'/images/' in head:
            response = raw_server.answering({'message': 'no such image'}, 404)
        else:
            response = raw_server.answering([])
        response(connection, head)

    properties = {'image': 'registry.example/nginx'}
    with (
        raw_server.serving(reply) as port,
        pytest.raises(base.ProviderError),
    ):
        configured().create(f'tcp://127.0.0.1:{port}', 'k', 'n', properties)
    (pull,) = [head for head in heads if b'POST /v1.44/images/create' in head]
    assert b'X-Registry-Auth: e30=' in pull  # {}
    assert not any(b'secret' in head for head in heads)
