# SPDX-License-Identifier: Apache-2.0
"""The typed client of the library with Barbican's API."""

import dataclasses

import httpx
import pytest
from barbican.api import app as barbican_app
from barbican.api.controllers import versions
from barbican.api.middleware import microversion
from barbican.tests import utils

import vobjects
import vobjects_client as client
from vobjects import UNSET, added
from vobjects.versions import Version
from vobjects_client import Client, Http, Operations, operation

PAYLOAD = {'payload': 'hush', 'payload_content_type': 'text/plain'}


@vobjects.register
class SecretCreateRequest(vobjects.Request):
    """Store a secret; a later release of the client also sends tags."""

    VERSION = '1.1'
    VERSION_MAP = {'1.3': '1.1'}

    name: str
    payload: str
    payload_content_type: str
    tags: list[str] = added('1.1', default=[])


@vobjects.register
class SecretGetRequest(vobjects.Request):
    """Show a secret."""

    secret_id: str


@vobjects.register
class SecretListRequest(vobjects.Request):
    """List secrets."""

    limit: int = 10
    name: str | None = UNSET


@vobjects.register
class ConsumerCreateRequest(vobjects.Request):
    """Register a consumer of a secret."""

    VERSION_MAP = {'1.1': '1.0'}

    secret_id: str
    service: str
    resource_type: str
    resource_id: str


@vobjects.register
class Consumer(vobjects.Object):
    """A consumer of a secret."""

    service: str
    resource_type: str
    resource_id: str


@vobjects.register
class Secret(vobjects.Resource):
    """The metadata of a secret."""

    VERSION = '1.2'
    VERSION_MAP = {'1.1': '1.1', '1.3': '1.2'}

    secret_ref: str
    name: str
    status: str = UNSET
    consumers: list[Consumer] = added('1.1', default=[])
    tags: list[str] = added('1.2', default=[])


class Secrets(Operations[Http]):
    """Operations on secrets."""

    create = operation(
        'POST', '/v1/secrets', SecretCreateRequest, str, result='secret_ref'
    )
    get = operation('GET', '/v1/secrets/{secret_id}', SecretGetRequest, Secret)
    add_consumer = operation(
        'POST',
        '/v1/secrets/{secret_id}/consumers',
        ConsumerCreateRequest,
        Secret,
    )
    delete = operation('DELETE', '/v1/secrets/{secret_id}', SecretGetRequest)
    list = operation(
        'GET', '/v1/secrets', SecretListRequest, list[Secret], result='secrets'
    )


class KeyManager(Client[Http]):
    """A client of a later release than the server."""

    POLICY = dataclasses.replace(
        microversion.POLICY, maximum=Version.parse('1.4')
    )

    secrets: Secrets[Http]


class WhenUsingTypedClient(utils.BarbicanAPIBaseTestCase):
    """Barbican's pipeline without Keystone: both applications."""

    def setUp(self):
        super().setUp()
        root = barbican_app.build_wsgi_app(versions.VersionsController())
        extra = self.app.extra_environ
        application = self.app.app

        def dispatch(environ, start_response):
            environ.update(extra)
            if not environ['PATH_INFO'].startswith('/v1'):
                return root(environ, start_response)
            environ['SCRIPT_NAME'] += '/v1'
            environ['PATH_INFO'] = environ['PATH_INFO'][3:]
            return application(environ, start_response)

        http = httpx.Client(
            base_url='http://barbican',
            transport=httpx.WSGITransport(
                microversion.MicroversionMiddleware(dispatch)
            ),
        )
        self.addCleanup(http.close)
        self.client = KeyManager(http)

    def test_secrets_and_consumers_at_the_version_of_both(self):
        secrets = self.client.secrets
        secret_ref = secrets.create(name='db', **PAYLOAD, tags=[])
        assert self.client.version == microversion.POLICY.maximum
        secret_id = secret_ref.rpartition('/')[2]

        shown = secrets.add_consumer(
            secret_id=secret_id,
            service='image',
            resource_type='image',
            resource_id='i1',
        )
        assert shown.name == 'db'
        assert [each.service for each in shown.consumers] == ['image']
        (listed,) = secrets.list(name='db')
        assert listed.secret_ref == secret_ref
        assert secrets.get(secret_id=secret_id).status == 'ACTIVE'
        with pytest.raises(client.NotSent, match=r'version 1\.3 added it'):
            _ = shown.tags
        with pytest.raises(client.RequestFailed, match='it has consumers'):
            secrets.delete(secret_id=secret_id)

    def test_a_value_that_barbican_cannot_hold_is_not_sent(self):
        with pytest.raises(
            client.ServerTooOld,
            match=r'needs API version 1\.3'
            r', but the maximum of the server is 1\.2; the server says',
        ):
            self.client.secrets.create(name='db', **PAYLOAD, tags=['x'])
        assert self.client.secrets.list() == []
