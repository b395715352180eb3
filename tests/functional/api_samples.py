# SPDX-License-Identifier: Apache-2.0
"""Record examples of requests and responses for the documentation.

``pytest tests/functional/test_api_reference.py -k sqlite --api-samples FILE``
writes ``doc/source/api_samples.yaml``.
"""

from __future__ import annotations

import json
import pathlib
import re
import socket
import uuid
from typing import Any

import requests
import yaml

from tests.api_reference import Operation

#: Root URL of the API in the examples.
URL = 'http://127.0.0.1:8777'

#: Name of all resources in the examples.
NAME = 'web'

#: Items of a list in a response that an example shows.
_MAX_ITEMS = 2

_UUID = re.compile(r'[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}')


class Recorder:
    """Collect the first call of each operation of the contract.

    :param url: root URL of the API that is called
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._samples: dict[str, dict[str, Any]] = {}

    def add(
        self,
        operation: Operation,
        path: str,
        body: Any,
        response: requests.Response,
    ) -> None:
        """Record a successful call."""
        route = operation.route()
        name = f'{operation.method} {operation.path.rstrip("/") or "/"}'
        if route is not None:
            name = f'{route.method} {route.path}'
        if operation.does:
            name += f' ({operation.does})'
        sample: dict[str, Any] = {'path': path}
        if body is not None:
            sample['body'] = body
        sample['status'] = response.status_code
        if 'Location' in response.headers:
            sample['location'] = response.headers['Location']
        if response.content:
            sample['response'] = _shortened(response.json())
        self._samples.setdefault(name, sample)

    def write(self, path: pathlib.Path) -> None:
        """Write the examples, without values of this machine."""
        text = json.dumps(self._samples)
        for private, public in (
            (self._url, URL),
            (socket.gethostname(), 'engine-1'),
        ):
            text = text.replace(private, public)
        names: dict[str, str] = {}

        def neutral(match: re.Match[str]) -> str:
            number = str(len(names))
            return names.setdefault(
                match[0], str(uuid.uuid5(uuid.NAMESPACE_URL, number))
            )

        text = _UUID.sub(neutral, text)
        path.write_text(
            '# SPDX-License-Identifier: Apache-2.0\n#\n'
            '# Recorded by tests/functional/api_samples.py; do not edit.\n'
            + yaml.safe_dump(json.loads(text), sort_keys=False, width=79)
        )


def _shortened(document: Any) -> Any:
    return {
        key: value[:_MAX_ITEMS] if isinstance(value, list) else value
        for key, value in document.items()
    }
