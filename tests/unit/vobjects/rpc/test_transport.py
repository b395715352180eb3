# SPDX-License-Identifier: Apache-2.0
"""Configuration of oslo.messaging."""

from __future__ import annotations

import pathlib
import sys
from typing import Any

import pytest
from oslo_config import cfg

from tests.programs import run_program
from vobjects import exceptions
from vobjects.rpc import transport

#: No server listens on this port.
CLOSED = '127.0.0.1:1'


def configuration(url: str) -> cfg.ConfigOpts:
    conf = cfg.ConfigOpts()
    conf([], default_config_files=[], default_config_dirs=[])
    transport.configured_url(conf)  # registers the option
    conf.set_override('transport_url', url)
    return conf


def connection_error(url: str) -> str:
    """Connect, and return the error."""
    conf = configuration(url)
    bus = transport.open_transport(conf, 'test')
    try:
        with pytest.raises(exceptions.Unreachable) as raised:
            transport.check_connection(conf, bus, 'work')
    finally:
        bus.cleanup()
    return str(raised.value)


@pytest.mark.parametrize(
    ('scheme', 'reason'),
    [
        # The text of oslo.messaging's driver, and that of the other one.
        ('rabbit', '[Errno 111] Connection refused'),
        (
            'pyamqp',
            f'cannot connect to RabbitMQ at {CLOSED}: Connection refused',
        ),
    ],
)
def test_check_connection_without_a_broker_reports_url_reason_and_fix(
    scheme: str, reason: str
) -> None:
    assert connection_error(f'{scheme}://me:secret@{CLOSED}/') == (
        'the message bus [DEFAULT] transport_url ='
        f' {scheme}://me:***@{CLOSED}/ cannot be used: {reason}; start it, or'
        ' correct transport_url'
    )


def test_check_connection_with_two_hosts_reports_both() -> None:
    error = connection_error('pyamqp://127.0.0.1:1,127.0.0.1:2/')
    assert '127.0.0.1:1: Connection refused' in error
    assert '127.0.0.1:2: Connection refused' in error


@pytest.mark.parametrize('scheme', ['rabbit', 'pyamqp'])
def test_open_transport_to_rabbitmq_changes_defaults_of_its_options(
    scheme: str,
) -> None:
    conf = configuration(f'{scheme}://me@{CLOSED}/')
    transport.open_transport(conf, 'test').cleanup()
    assert conf.oslo_messaging_rabbit.rabbit_quorum_queue


@pytest.mark.parametrize(
    ('query', 'reason'),
    [
        (
            'rabbit_ha_queues=true',
            '[oslo_messaging_rabbit] rabbit_quorum_queue and rabbit_ha_queues'
            ' exclude each other; set one of them to false',
        ),
        ('ssl=true&ssl_version=no', '[oslo_messaging_rabbit] ssl_version ='),
        ('no_such=1', 'no such option no_such in group'),
    ],
)
def test_open_transport_when_an_option_cannot_be_used_names_it(
    query: str, reason: str
) -> None:
    conf = configuration(f'pyamqp://me:secret@{CLOSED}/?{query}')
    with pytest.raises(transport.BadTransport) as raised:
        transport.open_transport(conf, 'test')
    # The value of an option that nobody knows may be a secret.
    shown = query.replace('no_such=1', 'no_such=***')
    assert str(raised.value).startswith(
        f'[DEFAULT] transport_url = pyamqp://me:***@{CLOSED}/?{shown} is not'
        f' usable: {reason}'
    )


def test_open_notifications_when_the_url_is_malformed_names_the_option() -> (
    None
):
    with pytest.raises(transport.BadTransport) as raised:
        transport.open_notifications('rabbit://me:secret@h:x/', '[a] url')
    text = str(raised.value)
    assert text.startswith('[a] url = rabbit://me:***@h:x/ is not usable: ')
    assert 'write DRIVER://USER:PASSWORD@HOST:PORT/VHOST' in text
    assert ', rabbit' in text.partition('one of')[2]


@pytest.mark.parametrize(
    'password',
    ['x/secret', 'secret/x', 'secret#x', 'secret?x', 'secret,x', '[secret]'],
)
@pytest.mark.parametrize('scheme', ['pyamqp', 'rabbit', 'embedded', 'no'])
def test_error_about_an_unescaped_password_does_not_show_it(
    scheme: str, password: str
) -> None:
    url = f'{scheme}://me:{password}@{CLOSED}/'
    conf = configuration(url)
    messages = []
    for attempt in (
        lambda: transport.open_transport(conf, 'test').cleanup(),
        lambda: transport.open_notifications(url, '[a] url').cleanup(),
    ):
        try:
            attempt()
        except transport.BadTransport as error:
            messages.append(str(error))
    assert not any('secret' in message for message in messages)
    assert all('special characters' in message for message in messages)


def test_url_that_refers_to_an_unknown_option_does_not_show_its_name() -> None:
    conf = configuration(f'pyamqp://me:pa$secret@{CLOSED}/')
    with pytest.raises(
        transport.BadTransport, match=r'write "\$\$"'
    ) as raised:
        transport.open_transport(conf, 'test')
    assert 'secret' not in str(raised.value)


@pytest.mark.parametrize(
    ('url', 'expected'),
    [
        ('embedded:///run/me', False),
        ('fake://', True),
        ('pyamqp://', True),
        ('rabbit://', True),
    ],
)
def test_has_broker_asks_the_class_of_the_driver(
    url: str, expected: bool
) -> None:
    assert transport.has_broker(configuration(url)) is expected
    assert transport.has_broker(configuration('fake://'), url) is expected


@pytest.mark.parametrize(
    'imports',
    [
        'import oslo_messaging, vobjects.rpc',
        'import vobjects.rpc, oslo_messaging',
    ],
)
@pytest.mark.parametrize('scheme', ['fake', 'embedded'])
def test_call_is_answered_in_any_order_of_imports(
    imports: str, scheme: str, tmp_path: pathlib.Path
) -> None:
    code = f"""
{imports}
from oslo_config import cfg
from vobjects.rpc import transport

class Endpoint:
    target = oslo_messaging.Target(version='1.0')

    def double(self, context, value):
        return 2 * value

conf = cfg.ConfigOpts()
conf([], default_config_files=[])
bus = transport.open_transport(conf, 'x', (), '{scheme}://{tmp_path}')
server = transport.build_server(bus, 't', 'one', [Endpoint()], 1)
server.start()
target = oslo_messaging.Target(topic='t', version='1.0')
client = oslo_messaging.get_rpc_client(bus, target, timeout=60)
print(client.call({{}}, 'double', value=21))
"""
    printed = run_program(
        [sys.executable, '-W', 'ignore', '-c', code], check=True, timeout=240
    ).stdout
    assert printed == '42\n'


class RabbitListener:
    """A listener whose consumer receives a message while it is cancelled."""

    prefetch_size = 0

    def __init__(self, error: Exception | None = None) -> None:
        self._error = error
        self.incoming = ['before']
        self._poll_style_listener = self.conn = self
        self._consumers = {self: 1}

    def start(self, on_incoming_callback: Any) -> None:
        """Do nothing."""

    cleanup = stop = lambda self: None

    def cancel(self, tag: int) -> None:
        if self._error:
            raise self._error
        self.incoming.append('meanwhile')


@pytest.mark.parametrize(
    ('error', 'expected'),
    [(None, ['before', 'meanwhile']), (OSError('cut'), ['before'])],
)
def test_listener_that_stops_passes_on_what_has_arrived(
    error: Exception | None, expected: list[str]
) -> None:
    received: list[str] = []
    listener = transport._DrainedListener(RabbitListener(error))
    listener.start(received.extend)
    listener.stop()
    assert received == expected
