# SPDX-License-Identifier: Apache-2.0
"""HAProxy for two APIs, with the configuration in ``etc/haproxy``."""

from __future__ import annotations

import csv
import pathlib
import shutil
import socket
from collections.abc import Sequence

from tests import certificates, requirements
from tests.functional.deployments import Deployment
from tests.functional.processes import TIMEOUT, free_port, wait_for

CONFIG_FILE = pathlib.Path(__file__).parents[2] / 'etc/haproxy/vobjects.cfg'
CERTIFICATE = '/etc/haproxy/vobjects.pem'


def require() -> None:
    """Skip the test without HAProxy; fail it in CI."""
    requirements.programs('haproxy')


class HAProxy:
    """HAProxy, which runs until :meth:`close`.

    :param ports: of the APIs ``api1`` and ``api2``
    :ivar url: root URL without TLS
    :ivar secure_url: root URL with TLS
    :ivar certificate: CA file for clients of ``secure_url``
    """

    def __init__(self, deployment: Deployment, ports: Sequence[int]) -> None:
        directory = deployment.directory
        plain, secure = free_port(), free_port()
        self.url = f'http://127.0.0.1:{plain}'
        self.secure_url = f'https://127.0.0.1:{secure}'
        authority = certificates.CertificateAuthority(directory)
        self.certificate = authority.file
        both = directory / 'both.pem'
        both.write_text(
            ''.join(
                pathlib.Path(file).read_text()
                for file in authority.sign('proxy', '127.0.0.1')
            )
        )
        self._control = ('127.0.0.1', free_port())
        text = CONFIG_FILE.read_text()
        for old, new in (
            (CERTIFICATE, str(both)),
            ('bind :443', f'bind 127.0.0.1:{plain}\n    bind :443'),
            (':443', f'127.0.0.1:{secure}'),
            ('10.0.0.11:8777', f'127.0.0.1:{ports[0]}'),
            ('10.0.0.12:8777', f'127.0.0.1:{ports[1]}'),
        ):
            assert old in text, old
            text = text.replace(old, new)
        control = 'ipv4@{}:{}'.format(*self._control)
        config = directory / 'haproxy.cfg'
        config.write_text(f'global\n    stats socket {control}\n\n{text}')
        self._group = deployment.group
        self._process = self._group.start(
            'haproxy', shutil.which('haproxy') or '', '-db', '-f', str(config)
        )
        for api in ('api1', 'api2'):
            self.wait_for(api, 'UP')

    def close(self) -> None:
        """Stop HAProxy."""
        self._process.kill()
        self._group.remove(self._process)

    def wait_for(self, api: str, state: str) -> None:
        """Wait until HAProxy reports an API as ``UP`` or ``DOWN``."""
        wait_for(
            f'HAProxy reports {api} as {state}',
            lambda: self._states().get(api, '').startswith(state),
        )

    def _states(self) -> dict[str, str]:
        try:
            connection = socket.create_connection(self._control, TIMEOUT)
        except ConnectionError:
            return {}
        with connection, connection.makefile() as response:
            connection.sendall(b'show stat\n')
            rows = csv.DictReader(response.read().strip('# \n').splitlines())
            return {row['svname']: row['status'] for row in rows}
