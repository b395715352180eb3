# SPDX-License-Identifier: Apache-2.0
"""The requests of the service in version 2 of Zaqar's API."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import re
import uuid
from collections.abc import Iterator
from typing import Any

from tests import http_server

QUEUE = r'/v2/queues/(?P<queue>[A-Za-z0-9_-]{1,64})'


@dataclasses.dataclass
class Message:
    id: str
    body: Any
    ttl: int
    claim: str | None = None


class Zaqar:
    """The state and the responses of the API.

    :ivar queues: name -> messages, oldest first
    :ivar subscriptions: ID -> (queue, body of the request)
    :ivar broken: whether all responses are 503
    """

    def __init__(self) -> None:
        self.queues: dict[str, list[Message]] = {}
        self.subscriptions: dict[str, tuple[str, dict[str, Any]]] = {}
        self.broken = False
        self.url = ''

    def answer(
        self, method: str, path: str, headers: Any, body: Any
    ) -> tuple[int, Any, dict[str, str]]:
        """Return status, document and headers."""
        if self.broken:
            return 503, {'title': 'Service temporarily unavailable'}, {}
        path, _, query = path.partition('?')
        if path.startswith('/v2/queues') and not headers.get('Client-ID'):
            return 400, {'title': 'Client-ID is missing'}, {}
        for (verb, pattern), handler in ROUTES.items():
            match = re.fullmatch(pattern, path)
            if match and verb == method:
                return handler(
                    self, query=query, body=body, **match.groupdict()
                )
        return 404, {'title': 'Not found'}, {}

    def versions(self, **_: Any) -> Any:
        version = {
            'id': '2',
            'status': 'CURRENT',
            'links': [{'rel': 'self', 'href': f'{self.url}/v2/'}],
        }
        return 300, {'versions': [version]}, {}

    def create_queue(self, queue: str, **_: Any) -> Any:
        is_new = queue not in self.queues
        self.queues.setdefault(queue, [])
        return 201 if is_new else 204, None, {}

    def delete_queue(self, queue: str, **_: Any) -> Any:
        self.queues.pop(queue, None)
        return 204, None, {}

    def post(self, queue: str, body: Any, **_: Any) -> Any:
        posted = body['messages']
        if not 1 <= len(posted) <= 10 or any(
            not 60 <= message['ttl'] <= 1209600 for message in posted
        ):
            return 400, {'title': 'Invalid request body'}, {}
        new = [Message(uuid.uuid4().hex, m['body'], m['ttl']) for m in posted]
        self.queues.setdefault(queue, []).extend(new)
        hrefs = [
            f'/v2/queues/{queue}/messages/{message.id}' for message in new
        ]
        return 201, {'resources': hrefs}, {}

    def claim(self, queue: str, body: Any, **_: Any) -> Any:
        if not (60 <= body['ttl'] <= 43200 and 60 <= body['grace'] <= 43200):
            return 400, {'title': 'Invalid API request'}, {}
        free = [m for m in self.queues.get(queue, ()) if m.claim is None][:10]
        if not free:
            return 204, None, {}
        id_ = uuid.uuid4().hex
        for message in free:
            message.claim = id_
        shown = [
            {
                'id': m.id,
                'href': f'/v2/queues/{queue}/messages/{m.id}?claim_id={id_}',
                'body': m.body,
                'ttl': m.ttl,
                'age': 0,
            }
            for m in free
        ]
        location = f'/v2/queues/{queue}/claims/{id_}'
        return 201, {'messages': shown}, {'location': location}

    def release(self, queue: str, id: str, **_: Any) -> Any:  # noqa: A002
        for message in self.queues.get(queue, ()):
            if message.claim == id:
                message.claim = None
        return 204, None, {}

    def remove(self, queue: str, id: str, query: str, **_: Any) -> Any:  # noqa: A002
        messages = self.queues.get(queue, [])
        for message in messages:
            if message.id != id:
                continue
            if message.claim and query != f'claim_id={message.claim}':
                return 403, {'title': 'The message is claimed'}, {}
            messages.remove(message)
            break
        return 204, None, {}

    def subscribe(self, queue: str, body: Any, **_: Any) -> Any:
        if not re.match('(trust[+])?https?:', body['subscriber']):
            return 400, {'title': 'The subscriber type is not supported'}, {}
        id_ = uuid.uuid4().hex
        self.subscriptions[id_] = (queue, body)
        return 201, {'subscription_id': id_}, {}

    def unsubscribe(self, queue: str, id: str, **_: Any) -> Any:  # noqa: A002
        self.subscriptions.pop(id, None)
        return 204, None, {}


ROUTES = {
    ('GET', '/?'): Zaqar.versions,
    ('GET', '/v2/?'): Zaqar.versions,
    ('PUT', QUEUE): Zaqar.create_queue,
    ('DELETE', QUEUE): Zaqar.delete_queue,
    ('POST', f'{QUEUE}/messages'): Zaqar.post,
    ('DELETE', f'{QUEUE}/messages/(?P<id>\\w+)'): Zaqar.remove,
    ('POST', f'{QUEUE}/claims'): Zaqar.claim,
    ('DELETE', f'{QUEUE}/claims/(?P<id>\\w+)'): Zaqar.release,
    ('POST', f'{QUEUE}/subscriptions'): Zaqar.subscribe,
    ('DELETE', f'{QUEUE}/subscriptions/(?P<id>\\w+)'): Zaqar.unsubscribe,
}


@contextlib.contextmanager
def served() -> Iterator[Zaqar]:
    """Serve one on a port of this machine."""
    zaqar = Zaqar()

    class Handler(http_server.Handler):
        def answer(self) -> None:
            length = int(self.headers.get('Content-Length') or 0)
            raw = self.rfile.read(length)
            status, document, headers = zaqar.answer(
                self.command,
                self.path,
                self.headers,
                json.loads(raw) if raw else None,
            )
            content = (
                b'' if document is None else json.dumps(document).encode()
            )
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header('Content-Type', 'application/json')
            self.send_header('Content-Length', str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    for method in ('GET', 'PUT', 'POST', 'DELETE'):
        setattr(Handler, f'do_{method}', Handler.answer)
    with http_server.serving(Handler) as port:
        zaqar.url = f'http://127.0.0.1:{port}'
        yield zaqar
