# SPDX-License-Identifier: Apache-2.0
"""All calls of the API reference, in order.

``doc/source/api_reference.yaml`` has requests and expected responses; the
documentation is generated from it.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.api_reference import CALLS, SHAPES, Operation
from tests.functional import api_samples
from tests.functional.deployments import Deployment
from tests.functional.processes import wait_for
from tests.functional.rest import RestClient, action_id_of, unique
from vobjects.clustering import consts
from vobjects.clustering.history import HISTORY
from vobjects.versions import Version

VERSIONS = list(HISTORY)
OLDEST = VERSIONS[0]


def test_operations_conform_to_the_reference(
    request: pytest.FixtureRequest, service: Deployment, rest: RestClient
) -> None:
    samples = request.config.getoption('--api-samples')
    name = api_samples.NAME if samples else unique('reference')
    scenario = Scenario(
        rest, unique=name, server=service.create_unmanaged_server()
    )
    for operation in CALLS:
        scenario.request(operation)
    service.assert_tidy()
    if samples:
        scenario.recorder.write(samples)


class Scenario:
    """Send one call after the other.

    :ivar known: placeholder in the file -> its value
    """

    def __init__(self, rest: RestClient, **known: str) -> None:
        self.rest = rest
        self.known = known
        self.recorder = api_samples.Recorder(rest.url)

    def request(self, operation: Operation) -> None:
        """Send a call and compare the response with the reference."""
        path = self._filled(operation.path)
        if operation.query:
            path += f'?{self._filled(operation.query)}'
        body = self._filled(operation.body)
        if operation.since != OLDEST:
            before = VERSIONS[VERSIONS.index(operation.since) - 1]
            if _is_refused_at(operation, before):
                self.rest.at(before).expect(404, operation.method, path, body)
        response = self.rest.expect(
            operation.status, operation.method, path, body
        )
        document = response.json() if response.content else {}
        if operation.refused:
            self._check_refusal(operation, document)
            return
        self.recorder.add(operation, path, body, response)
        assert set(document) >= set(operation.answers), operation
        for key, shape in operation.answers.items():
            _check(document[key], set(SHAPES[shape]), operation)
        if operation.saves:
            self.known[operation.saves] = _id(operation, document)
        if 'Location' in response.headers:
            self._follow(operation, action_id_of(response))

    def _check_refusal(self, operation: Operation, document: Any) -> None:
        error = document['error']
        says = self._filled(operation.refused['says'])
        assert error['type'] == operation.refused['type'], (operation, error)
        assert error['message'].startswith(says), (operation, error)

    def _filled(self, value: Any) -> Any:
        text = json.dumps(value)
        for name, known in self.known.items():
            text = text.replace(f'{{{name}}}', known)
        return json.loads(text)

    def _follow(self, operation: Operation, action: str) -> None:
        """Wait for an action and its dependents, or until it is WAITING."""
        if operation.ends == 'WAITING':
            self.known['token'] = wait_for(
                'the node waits', lambda: self._waiting(action)
            )
            return
        ended = self.rest.wait_for_end(action)
        assert operation.ends in ('ANY', ended['status']), (operation, ended)
        for other in ended['depended_by']:
            self.rest.wait_for_success(other)

    def _waiting(self, action: str) -> str | None:
        """Return the action whose lifecycle hook blocks another action."""
        for id_ in self.rest.get(f'/v1/actions/{action}')['depends_on']:
            dependency = self.rest.get(f'/v1/actions/{id_}')
            if dependency['status'] == consts.WAITING_LIFECYCLE:
                return str(id_)
        return None


def _is_refused_at(operation: Operation, version: str) -> bool:
    route = operation.route()
    assert route is not None
    at = Version.parse(version)
    return route.request.version_at(at, early=True) is None


def _check(content: Any, fields: set[str], operation: Operation) -> None:
    if isinstance(content, list):
        assert content, f'{operation.operation}: the list is empty'
    for resource in content if isinstance(content, list) else [content]:
        assert not fields or set(resource) >= fields, operation


def _id(operation: Operation, document: Any) -> str:
    (key,) = operation.answers
    content = document[key]
    if isinstance(content, str):
        return content
    resource = content[0] if isinstance(content, list) else content
    return str(resource['id'])
