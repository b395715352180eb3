# SPDX-License-Identifier: Apache-2.0
"""The service in ``doc/examples/digests``, with processes of two releases."""

from __future__ import annotations

import collections
import hashlib
import pathlib
import shutil
import sys
import threading
from collections.abc import Iterator
from concurrent import futures

import pytest
import requests
import sqlalchemy

from tests import machine_speed
from tests.functional import brokers
from tests.functional.processes import (
    TIMEOUT,
    Process,
    ProcessGroup,
    wait_for,
    wait_for_url,
)
from vobjects_sql.ledger import SqlLedger

EXAMPLE = pathlib.Path(__file__).parents[2] / 'doc' / 'examples' / 'digests'

#: Texts in the source of the second release that the first one lacks.
ADDED = (
    "    VERSION = '1.1'\n    VERSION_MAP = {'1.1': '1.1'}\n",
    "    ROUTE = 'capable'\n",
    "        'algorithm': added('1.1',"
    " fields.StringField(default='sha256')),\n",
    ", '1.1': ['The algorithm of a digest.']",
)

TEXT = 'a text'

Result = tuple[int, str]


class Deployment:
    """Processes of both releases with one configuration file."""

    def __init__(self, directory: pathlib.Path, url: str) -> None:
        self.group = ProcessGroup(directory, str(directory))
        self._directory = directory
        self._file = directory / 'digests.conf'
        self._file.write_text(
            f'[DEFAULT]\ntransport_url = {url}\n'
            f'[database]\nconnection = sqlite:///{directory}/digests.sqlite\n'
            '[fleet]\ncapable_servers = 1\ncall_timeout = 60\n'
            f'heartbeat_interval = {2 * machine_speed.scale()}\n'
        )
        for release in (1, 2):
            copy = directory / f'release-{release}' / 'digests'
            shutil.copytree(EXAMPLE, copy)
            if release == 1:
                for file in copy.glob('*.py'):
                    source = file.read_text()
                    for text in ADDED:
                        source = source.replace(text, '')
                    file.write_text(source)

    def start(self, module: str, name: str, release: int) -> Process:
        """Start a process of a release."""
        self.group.variables['PYTHONPATH'] = str(
            self._directory / f'release-{release}'
        )
        return self.group.start(
            name,
            *(sys.executable, '-m', f'digests.{module}', str(self._file)),
            stop_order=module == 'engine',
        )

    def start_api(self) -> str:
        """Start an API of the second release, and return its URL."""
        return wait_for_url(self.group, self.start('api', 'api', 2))

    def wait_until_up(self, release: int, count: int) -> None:
        """Wait until engines of a release are up: they consume before that."""
        database = sqlalchemy.create_engine(
            f'sqlite:///{self._directory}/digests.sqlite'
        )

        def is_up() -> bool:
            return count == sum(
                group.count
                for group in SqlLedger(database).get().groups
                if group.manifest.get('Digest') == f'1.{release - 1}'
                and (group.topic, group.state) == ('digests-engine', 'up')
            )

        wait_for(f'{count} engines of release {release} are up', is_up)
        database.dispose()

    def stop(self, process: Process) -> None:
        assert process.stop() == 0
        self.group.remove(process)


@pytest.fixture(
    params=[
        'embedded',
        pytest.param('pyamqp', marks=pytest.mark.rabbit),
        pytest.param('rabbit', marks=pytest.mark.rabbit),
    ]
)
def deployment(
    request: pytest.FixtureRequest,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Deployment]:
    monkeypatch.setenv('NO_PROXY', '*')
    with brokers.temporary(request.param) as url:
        deployment = Deployment(tmp_path, url)
        try:
            yield deployment
        finally:
            problems = deployment.group.close()
        assert problems == []


def send(url: str, version: str) -> Result:
    """Send a request; return the status, and the process or the error."""
    algorithm = 'sha1' if version == '1.1' else ''
    body = {'text': TEXT} | ({'algorithm': algorithm} if algorithm else {})
    response = requests.post(
        f'{url}/digests',
        json=body,
        headers={'OpenStack-API-Version': f'digests {version}'},
        timeout=TIMEOUT,
    )
    if response.status_code != 200:
        return response.status_code, response.text
    content = response.json()
    expected = hashlib.new(algorithm or 'sha256', TEXT.encode()).hexdigest()
    assert content['value'] == expected
    assert content.get('algorithm') == (algorithm or None)
    return 200, str(content['process'])


def send_many(url: str, version: str, count: int) -> collections.Counter[str]:
    """Send requests, four at a time; return their number by process."""
    with futures.ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: send(url, version), range(count)))
    failed = [text for status, text in results if status != 200]
    assert failed == []
    return collections.Counter(text for _, text in results)


def test_new_microversion_beside_old_engines_until_the_new_ones_leave(
    deployment: Deployment,
) -> None:
    old = [deployment.start('engine', f'old-{n}', 1) for n in range(4)]
    url = deployment.start_api()
    wait_for('all serve', lambda: send(url, '1.0')[0] == 200)
    wait_for(
        'four engines respond', lambda: len(send_many(url, '1.0', 20)) == 4
    )
    assert send(url, '1.1')[0] == 406

    new = deployment.start('engine', 'new', 2)
    wait_for('1.1 is served', lambda: send(url, '1.1')[0] == 200)
    assert send_many(url, '1.1', 200) == {str(new.pid): 200}
    assert {str(each.pid) for each in old} < send_many(url, '1.0', 200).keys()

    other = deployment.start('engine', 'other', 2)
    wait_for(
        'both new engines respond',
        lambda: len(send_many(url, '1.1', 20)) == 2,
    )
    deployment.wait_until_up(2, count=2)
    # One of them leaves under load: no request is lost.
    with futures.ThreadPoolExecutor(1) as pool:
        load = pool.submit(send_many, url, '1.1', 500)
        deployment.stop(new)
        assert load.result().keys() <= {str(new.pid), str(other.pid)}
    # The last one leaves under load: requests end at once with an error.
    results: list[Result] = []
    has_begun, is_over = threading.Event(), threading.Event()

    def send_on() -> None:
        while not is_over.is_set():
            results.append(send(url, '1.1'))
            has_begun.set()

    thread = threading.Thread(target=send_on)
    thread.start()
    has_begun.wait()
    deployment.stop(other)
    wait_for('1.1 is not served', lambda: results[-1][0] == 406)
    is_over.set()
    thread.join()
    for status, text in results:
        assert status in {200, 406, 503}, text
        assert status != 503 or 'DigestRequest 1.1' in text, text
    assert send_many(url, '1.0', 20).total() == 20
