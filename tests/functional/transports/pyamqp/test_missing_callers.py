# SPDX-License-Identifier: Apache-2.0
"""Calls on RabbitMQ whose reply queues do not exist."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import uuid

import kombu
import pytest

from tests.functional import brokers
from tests.functional.transports import serve
from tests.functional.transports.servers import ROOT, Processes

pytestmark = pytest.mark.rabbit

CALLS = 300

#: Far less than one line per call.
LINES = 100


def test_calls_when_reply_queues_are_missing_block_no_server(
    tmp_path: pathlib.Path,
) -> None:
    log = tmp_path / 'log'
    with brokers.temporary('pyamqp') as url, log.open('w') as log_file:
        processes = Processes(url, tmp_path)
        server = subprocess.Popen(
            [sys.executable, '-m', serve.__name__, url, 'one'],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log_file,
            text=True,
            cwd=ROOT,
        )
        try:
            assert server.stdout is not None
            assert server.stdout.readline() == 'ready\n'
            # A thread of the server that waits for a reply queue does so for
            # longer than this caller waits.
            client = processes.client(timeout=8)
            assert client.call({}, 'identify')[0] == 'one'
            publish(url)
            for _ in range(20):
                assert client.call({}, 'identify')[0] == 'one'
        finally:
            server.kill()
            server.communicate()
            processes.close()
    assert len(log.read_text().splitlines()) < LINES, log.read_text()


def publish(url: str) -> None:
    """Publish calls of ``identify``, each with a different reply queue."""
    with kombu.Connection(url.replace('pyamqp:', 'amqp:')) as connection:
        producer = connection.Producer()
        for _ in range(CALLS):
            message = {
                'method': 'identify',
                'args': {},
                'version': '1.0',
                '_msg_id': uuid.uuid4().hex,
                '_unique_id': uuid.uuid4().hex,
                '_reply_q': f'reply_{uuid.uuid4().hex}',
                '_timeout': None,
            }
            producer.publish(
                {
                    'oslo.version': '2.0',
                    'oslo.message': json.dumps(message),
                },
                exchange=serve.EXCHANGE,
                routing_key=serve.TOPIC,
            )
