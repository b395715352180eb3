# SPDX-License-Identifier: Apache-2.0
"""Lists accept all query parameters that openstacksdk can send.

Names are those on the wire. The ``openstack`` command sends a part of them.
"""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from api import routes

#: Module of the SDK -> its class.
LISTS = {
    'action': 'Action',
    'cluster': 'Cluster',
    'cluster_attr': 'ClusterAttr',
    'cluster_policy': 'ClusterPolicy',
    'event': 'Event',
    'node': 'Node',
    'policy': 'Policy',
    'policy_type': 'PolicyType',
    'profile': 'Profile',
    'profile_type': 'ProfileType',
    'receiver': 'Receiver',
    'service': 'Service',
}

#: The SDK has these for every list; Senlin's server rejects them here, too.
PAGES = {'limit', 'marker'}

REJECTED = {
    'cluster_attr': PAGES,
    'cluster_policy': PAGES,
    'policy_type': PAGES,
    'profile_type': PAGES,
    'service': PAGES,
    # Of one node, not of a list.
    'node': {'show_details'},
}


def list_route(resource: Any) -> routes.Route:
    path = '/v1' + resource.base_path % {
        'cluster_id': '{identity}',
        'path': '{path}',
    }
    (route,) = (
        candidate
        for candidate in routes.ROUTES
        if (candidate.method, candidate.path) == ('GET', path)
    )
    return route


@pytest.mark.parametrize('module', LISTS)
def test_list_when_queried_by_the_sdk_accepts_its_parameters(
    module: str,
) -> None:
    sdk_module = importlib.import_module(f'openstack.clustering.v1.{module}')
    resource = getattr(sdk_module, LISTS[module])
    sent = set(resource._query_mapping._mapping.values())
    accepted = set(list_route(resource).query_fields())
    assert sent - accepted == REJECTED.get(module, set())
