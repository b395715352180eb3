# SPDX-License-Identifier: Apache-2.0
"""Messages that an old API sent once, and that come again.

A broker may deliver a message twice, and one that was under way for long may
come when its sender has left. Each must have no effect the second time, and
the answer of the first.
"""

from __future__ import annotations

import dataclasses
import uuid
from typing import Any

import oslo_messaging
from oslo_config import cfg

from tests.functional.harness import Deployment
from tests.functional.processes import PATIENCE
from tests.functional.rest import SPEC, Rest, unique
from tests.upgrade.fleets import OLD_TYPES
from vobjects import objects
from vobjects.clustering import topics
from vobjects.clustering.context import RequestContext
from vobjects.clustering.requests import clusters, profiles
from vobjects.objects.manifest import Manifest, local
from vobjects.rpc import client, fleet_types, serializer, transport

#: Counts what the messages make; others make no such things.
COUNTS = """
SELECT (SELECT count(*) FROM profiles WHERE name LIKE 'again-%'),
       (SELECT count(*) FROM clusters WHERE name LIKE 'again-%'),
       (SELECT count(*) FROM actions WHERE target = :scaled)
"""


@dataclasses.dataclass(frozen=True, slots=True)
class Message:
    """A request as it was sent, and what it was answered."""

    request: str
    reader: dict[str, Any]
    answer: Any = None


class Messages:
    """Sends messages to the engines of a deployment, and keeps them."""

    def __init__(self, deployment: Deployment) -> None:
        self._deployment = deployment
        conf = cfg.ConfigOpts()
        conf([], default_config_files=[], default_config_dirs=[])
        self._transport = transport.open_transport(
            conf,
            topics.EXCHANGE,
            topics.ERROR_MODULES,
            url=deployment.transport_url,
        )
        self._rpc = oslo_messaging.get_rpc_client(
            self._transport,
            oslo_messaging.Target(topic=topics.ENGINE, version='1.0'),
            timeout=PATIENCE,
            serializer=client.ContextSerializer(),
        )
        self._speaks = Manifest({**local(), **OLD_TYPES})
        self._context = RequestContext(
            user_id='admin', project_id='admin', roles=['admin']
        )
        self._kept: list[Message] = []
        self._scaled = ''

    def send(self, rest: Rest) -> None:
        """Send each message for the first time.

        :param rest: makes what they are about
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

    def repeat(self, which: int) -> None:
        """Deliver a message once more, and look what it does.

        :param which: by it the message is picked
        """
        message = self._kept[which % len(self._kept)]
        before = self._counted()
        answer = self._deliver(message)
        if message.reader['call']:
            assert answer == message.answer, (answer, message.answer)
        assert self._counted() == before, 'it was done again'

    def close(self) -> None:
        """Close the connection."""
        self._transport.cleanup()

    def _send(self, request: objects.Request, call: str = '') -> None:
        text = serializer.to_bytes(request, self._speaks).decode()
        reader = {
            'digest': self._speaks.digest,
            'manifest': dict(self._speaks),
            'call': call,
        }
        message = Message(text, reader)
        answer = self._deliver(message)
        self._kept.append(dataclasses.replace(message, answer=answer))

    def _deliver(self, message: Message) -> Any:
        """Return what is answered, as data."""
        answer = self._rpc.call(
            self._context,
            client.METHOD,
            request=message.request,
            reader=message.reader,
        )
        read = serializer.from_message(answer)
        return objects.to_json(read, self._speaks)

    def _heartbeat(self) -> fleet_types.FleetReport:
        """Return the last heartbeat of an old engine that has left."""
        return fleet_types.FleetReport(
            id=str(uuid.uuid4()),
            binary='vobjects-engine',
            host='gone',
            topic=topics.ENGINE,
            release='0.0.9',
            manifest=dict(self._speaks),
            state='up',
            seen=0,
        )

    def _counted(self) -> tuple[int, ...]:
        """Return how much there is of what the messages make."""
        (row,) = self._deployment.rows(COUNTS, scaled=self._scaled)
        return tuple(row)
