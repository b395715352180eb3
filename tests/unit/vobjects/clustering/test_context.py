# SPDX-License-Identifier: Apache-2.0
"""The context of a request, which crosses the bus."""

from __future__ import annotations

from vobjects.clustering import context

#: What an API of any release sends. An engine of another release looks for
#: these keys, so none may change: without ``denied_actions``, a receiver may
#: start anything.
SENT = {
    'user_id': 'u',
    'project_id': 'p',
    'domain_id': 'd',
    'user_domain_id': 'ud',
    'project_domain_id': 'pd',
    'auth_token': 't',
    'roles': ['member'],
    'is_admin': True,
    'system_scope': 'all',
    'request_id': 'req-1',
    'global_request_id': 'req-2',
    'denied_actions': ['CLUSTER_DELETE'],
    'asks_owner': True,
}
#: Key of SENT -> key on the wire, if it is another.
WIRE = {
    'user_id': 'user',
    'domain_id': 'domain',
    'user_domain_id': 'user_domain',
    'project_domain_id': 'project_domain',
}


def test_context_keeps_its_keys() -> None:
    wire = {WIRE.get(key, key): value for key, value in SENT.items()}

    written = context.RequestContext(**SENT).to_dict()

    assert {key: written[key] for key in wire} == wire
    read = context.from_dict(wire)
    assert {key: getattr(read, key) for key in SENT} == SENT


def test_context_of_another_release_is_read() -> None:
    read = context.from_dict({'project_id': 'p', 'later': 1})

    assert read.project_id == 'p'
    assert (read.denied_actions, read.asks_owner) == ([], False)
    written = context.RequestContext(project_id='p').to_dict()
    assert not {'denied_actions', 'asks_owner'} & written.keys()
