# SPDX-License-Identifier: Apache-2.0
import logging
import subprocess
import sys

import pytest

from api import request_log
from tests import waiting
from tests.unit.api.client import ApiClient


def lines(
    caplog: pytest.LogCaptureFixture, count: int
) -> list[logging.LogRecord]:
    """Return the records of requests as soon as there are ``count``."""

    def found() -> list[logging.LogRecord]:
        return [r for r in caplog.records if r.name == request_log.__name__]

    waiting.eventually(lambda: len(found()) >= count)
    return found()


@pytest.mark.parametrize(
    ('method', 'path', 'status', 'level'),
    [
        ('GET', '/v1/clusters', 200, logging.DEBUG),
        ('GET', '/v1/clusters/nobody', 404, logging.INFO),
        ('DELETE', '/v1/clusters/nobody', 404, logging.INFO),
    ],
)
def test_when_the_page_polls_is_at_debug(
    api: ApiClient,
    caplog: pytest.LogCaptureFixture,
    method: str,
    path: str,
    status: int,
    level: int,
) -> None:
    with caplog.at_level(logging.DEBUG):
        for headers in ({'X-Requested-With': 'vobjects-ui'}, {}):
            assert api(method, path, headers=headers).status == status
        records = lines(caplog, 2)
    assert [record.levelno for record in records] == [level, logging.INFO]


def test_when_a_path_has_line_ends_stays_one_line(
    api: ApiClient, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        api('GET', '/v1/x%0AINFO%20forged')
        (record,) = lines(caplog, 1)
    assert '\n' not in record.getMessage()
    assert 'GET /v1/x\\nINFO forged' in record.getMessage()
    assert ' 404 ' in record.getMessage()


def test_has_the_context_of_its_request(
    api: ApiClient, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        ids = [
            api('GET', '/v1/clusters').headers['x-openstack-request-id']
            for _ in range(3)
        ]
        records = lines(caplog, 3)
    assert [vars(record)['context'].request_id for record in records] == ids


def test_when_too_many_lines_wait_writes_them_at_once(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_log, 'PERIOD', 3600)
    monkeypatch.setattr(request_log, 'MAX_WAITING', 10)
    log = request_log.RequestLog()
    with caplog.at_level(logging.INFO):
        for _ in range(11):
            log.add({}, '200 OK', 0.001)
    assert len(lines(caplog, 11)) == 11


PROGRAM = """
import logging, multiprocessing, sys
from api import request_log

def serve():
    request_log.PERIOD = 3600
    logging.basicConfig(level=logging.INFO, stream=sys.stdout)
    log = request_log.RequestLog()
    for number in range(3):
        environ = {'REQUEST_METHOD': 'GET', 'PATH_INFO': f'/{number}'}
        log.add(environ, '200 OK', 0.001)

if sys.argv[1] == 'child':
    process = multiprocessing.get_context('fork').Process(target=serve)
    process.start()
    process.join()
else:
    serve()
"""


@pytest.mark.parametrize('process', ['main', 'child'])
def test_end_of_the_process_writes_the_lines_that_wait(process: str) -> None:
    ended = subprocess.run(
        [sys.executable, '-c', PROGRAM, process],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert [line.split()[2] for line in ended.stdout.splitlines()] == [
        '/0',
        '/1',
        '/2',
    ]
    assert not ended.stderr
