# SPDX-License-Identifier: Apache-2.0
"""Senlin's example specs, sent to the API."""

from __future__ import annotations

from typing import Any

import pytest

from tests import senlin_examples
from tests.functional.deployments import Deployment, embedded_sqlite_only
from tests.functional.rest import RestClient, unique

#: Platform of spec -> its collection.
COLLECTIONS = {'profile': '/v1/profiles', 'policy': '/v1/policies'}

#: Operation -> suffix of the path, and status of success.
OPERATIONS = {'validate': ('/validate', 200), 'create': ('', 201)}


@embedded_sqlite_only
@pytest.mark.parametrize('operation', OPERATIONS)
def test_examples_are_accepted_where_senlin_accepts_them(
    service: Deployment, operation: str
) -> None:
    suffix, accepted = OPERATIONS[operation]
    with RestClient(service.url) as rest:
        for name, spec in senlin_examples.specs().items():
            kind = senlin_examples.kind(name)
            content: dict[str, Any] = {'spec': spec}
            if operation == 'create':
                content['name'] = unique('example')
            path = COLLECTIONS[kind] + suffix
            response = rest.request('POST', path, {kind: content})
            if name in senlin_examples.REJECTED:
                assert response.status_code in (400, 404), name
            else:
                assert response.status_code == accepted, (name, response.text)
                assert response.json()[kind]['spec'] == spec
