# SPDX-License-Identifier: Apache-2.0
"""Repeated delivery of RPC messages of an old API.

A broker may deliver a message twice, or so late that its sender has left. A
repeated message must return the first response and have no other effect.
"""

from __future__ import annotations

import dataclasses
import uuid
from typing import Any

import oslo_messaging
from oslo_config import cfg

from tests.functional.deployments import Deployment
from tests.functional.processes import TIMEOUT
from tests.functional.rest import SPEC, RestClient, unique
from tests.upgrade.mixed_fleet import OLD_TYPES
from vobjects import objects
from vobjects.clustering import topics
from vobjects.clustering.context import RequestContext
from vobjects.clustering.requests import clusters, profiles
from vobjects.clustering.service import SERVICE
from vobjects.objects.manifest import Manifest, local
from vobjects.rpc import client, fleet_types, serializer, transport

#: Counts the resources that the messages create, which have this prefix.
COUNTS = """
SELECT (SELECT count(*) FROM profiles WHERE name LIKE 'again-%'),
       (SELECT count(*) FROM clusters WHERE name LIKE 'again-%'),
       (SELECT count(*) FROM actions WHERE target = :scaled)
"""


@dataclasses.dataclass(frozen=True, slots=True)
class Message:
    """Arguments of an RPC call, and its response."""

    request: str
    reader: dict[str, Any]
    response: Any = None


class RecordedMessages:
    """Messages to the engines of a deployment, sent and then repeated."""

    def __init__(self, deployment: Deployment) -> None:
        self._deployment = deployment
        conf = cfg.ConfigOpts()
        conf([], default_config_files=[], default_config_dirs=[])
        self._transport = transport.open_transport(
            conf,
            topics.EXCHANGE,
            tuple(SERVICE.error_modules),
            url=deployment.transport_url,
        )
        self._rpc = oslo_messaging.get_rpc_client(
            self._transport,
            oslo_messaging.Target(topic=topics.ENGINE, version='1.0'),
            timeout=TIMEOUT,
            serializer=client.ContextSerializer(),
        )
        self._manifest = Manifest({**local(), **OLD_TYPES})
        self._context = RequestContext(
            user_id='admin', project_id='admin', roles=['admin']
        )
        self._messages: list[Message] = []
        self._scaled = ''

    def send(self, rest: RestClient) -> None:
        """Send each message once.

        :param rest: client that creates the resources they refer to
        """
        profile = rest.create_profile()
        self._scaled = rest.create_cluster(profile, 1)
        deleted = rest.create_cluster(profile, 1)
        for request in (
            profiles.ProfileCreateRequest(name=unique('again'), spec=SPEC),
            clusters.ClusterCreateRequest(
                name=unique('again'), profile_id=profile, desired_capacity=1
            ),
            clusters.ClusterScaleOutRequest(identity=self._scaled, count=1),
            clusters.ClusterDeleteRequest(identity=deleted),
        ):
            self._send(request, call=uuid.uuid4().hex)
        self._send(self._heartbeat())

    def repeat(self, number: int) -> None:
        """Deliver a message again and check that it has no effect.

        :param number: selects the message
        """
        message = self._messages[number % len(self._messages)]
        before = self._counts()
        response = self._deliver(message)
        if message.reader['call']:
            assert response == message.response, (response, message.response)
        assert self._counts() == before, 'the message took effect again'

    def close(self) -> None:
        """Close the connection."""
        self._transport.cleanup()

    def _send(self, request: objects.Request, call: str = '') -> None:
        text = serializer.to_bytes(request, self._manifest).decode()
        reader = {
            'digest': self._manifest.digest,
            'manifest': dict(self._manifest),
            'call': call,
        }
        message = Message(text, reader)
        response = self._deliver(message)
        self._messages.append(dataclasses.replace(message, response=response))

    def _deliver(self, message: Message) -> Any:
        """Return the response as plain data."""
        response = self._rpc.call(
            self._context,
            client.METHOD,
            request=message.request,
            reader=message.reader,
        )
        decoded = serializer.from_bytes(response)
        return objects.to_json(decoded, self._manifest)

    def _heartbeat(self) -> fleet_types.FleetHeartbeat:
        """Return a late heartbeat of an old engine that has left."""
        return fleet_types.FleetHeartbeat(
            id=str(uuid.uuid4()),
            binary='vobjects-engine',
            host='gone',
            topic=topics.ENGINE,
            release='0.0.9',
            digest=self._manifest.digest,
            manifest=dict(self._manifest),
            state='up',
            seen=0,
            generation=None,
            token=None,
        )

    def _counts(self) -> tuple[int, ...]:
        """Return the numbers of resources that the messages created."""
        (row,) = self._deployment.rows(COUNTS, scaled=self._scaled)
        return tuple(row)
