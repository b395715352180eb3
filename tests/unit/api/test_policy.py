# SPDX-License-Identifier: Apache-2.0
"""Default policy rules, scopes and the cache of the enforcer."""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any

import pytest
from oslo_policy import opts as oslo_policy_opts

from api import conf as api_conf
from api import errors, policy, routes
from engine.handlers import triggers
from tests.unit.api import conftest
from vobjects.clustering.context import RequestContext

FOR_ADMINS = ('services:index', 'nodes:adopt', 'nodes:adopt-preview')
READS = ('index', 'get', 'build_info', 'ops', 'collect', 'trigger')


def caller(*roles: str) -> RequestContext:
    return RequestContext(user_id='u', project_id='p', roles=list(roles))


def use_policy_file(conf: Any, file: pathlib.Path) -> None:
    """Select a policy file, for this configuration only."""
    oslo_policy_opts.set_defaults(conf)  # registers the options
    conf.set_override('policy_file', str(file), 'oslo_policy')


def is_allowed(
    enforcer: policy.Enforcer, context: RequestContext, rule: str
) -> bool:
    try:
        enforcer.check(context, rule)
    except errors.Forbidden:
        return False
    return True


@pytest.fixture(scope='module')
def enforcer() -> policy.Enforcer:
    return policy.Enforcer(conftest.make_conf())


RULES = sorted({route.rule for route in routes.ROUTES})


@pytest.mark.parametrize('rule', RULES)
def test_rule_when_checked_for_a_role_allows_its_operations(
    enforcer: policy.Enforcer, rule: str
) -> None:
    reads = rule.partition(':')[2] in READS and rule not in FOR_ADMINS
    assert is_allowed(enforcer, caller('admin'), rule)
    assert is_allowed(enforcer, caller('member'), rule) == (
        rule not in FOR_ADMINS
    )
    assert is_allowed(enforcer, caller('reader'), rule) == reads
    is_public = rule == 'webhooks:trigger'
    assert is_allowed(enforcer, caller('guest'), rule) == is_public
    assert is_allowed(enforcer, caller(), rule) == is_public


def test_global_project_when_requested_needs_an_admin(
    enforcer: policy.Enforcer,
) -> None:
    assert is_allowed(enforcer, caller('admin'), policy.GLOBAL_PROJECT)
    assert not is_allowed(enforcer, caller('member'), policy.GLOBAL_PROJECT)
    assert enforcer.is_admin(caller('admin'))
    assert not enforcer.is_admin(caller('member', 'reader'))


def test_rules_when_listed_are_those_of_the_routes_and_documented() -> None:
    documented = {
        rule.name: rule for rule in policy.list_rules() if ':' in rule.name
    }
    assert sorted(documented) == RULES
    for route in routes.ROUTES:
        operations = documented[route.rule].operations
        assert {'method': route.method, 'path': route.path} in operations


def test_receiver_actions_have_the_rules_of_their_routes() -> None:
    rules = {route.request: {route.rule} for route in routes.ROUTES}
    assert policy.RECEIVER_ACTIONS.keys() == triggers.REQUESTS.keys()
    for action, request_type in triggers.REQUESTS.items():
        assert rules[request_type] == {policy.RECEIVER_ACTIONS[action]}


@pytest.mark.parametrize('rule', sorted({*policy.RECEIVER_ACTIONS.values()}))
def test_closed_rule_denies_its_actions_to_receivers(
    tmp_path: pathlib.Path, rule: str
) -> None:
    file = tmp_path / 'policy.yaml'
    file.write_text(json.dumps({rule: 'rule:context_is_admin'}))
    conf = conftest.make_conf()
    use_policy_file(conf, file)
    enforcer = policy.Enforcer(conf)
    denied = enforcer.denied_actions(caller('member'))
    assert denied == [
        action for action, r in policy.RECEIVER_ACTIONS.items() if r == rule
    ]
    assert enforcer.denied_actions(caller('admin')) == []


def test_rule_when_the_file_changes_is_heard_soon(
    tmp_path: pathlib.Path,
) -> None:
    now = [0.0]
    file = tmp_path / 'policy.yaml'
    file.write_text(json.dumps({'clusters:get': '!'}))
    conf = conftest.make_conf()
    use_policy_file(conf, file)
    enforcer = policy.Enforcer(conf, clock=lambda: now[0])
    assert not is_allowed(enforcer, caller('admin'), 'clusters:get')
    file.write_text(json.dumps({'clusters:get': '@'}))
    os.utime(file, (2**31, 2**31))
    assert not is_allowed(enforcer, caller('admin'), 'clusters:get')
    now[0] += policy.CACHE_SECONDS
    assert is_allowed(enforcer, caller('admin'), 'clusters:get')
    assert is_allowed(enforcer, caller(), 'clusters:get')


@pytest.mark.parametrize(
    ('scope', 'rule', 'allowed'),
    [
        ({'system_scope': 'all'}, 'services:index', True),
        ({'system_scope': 'all'}, 'profile_types:get', True),
        ({'system_scope': 'all'}, 'clusters:index', False),
        ({'system_scope': 'all'}, policy.GLOBAL_PROJECT, False),
        ({'domain_id': 'd'}, 'services:index', False),
        ({'domain_id': 'd'}, 'clusters:get', False),
        ({'project_id': 'p'}, 'clusters:get', True),
    ],
)
def test_rule_when_checked_for_another_scope_rejects(
    enforcer: policy.Enforcer,
    scope: dict[str, str],
    rule: str,
    allowed: bool,
) -> None:
    context = RequestContext(user_id='u', roles=['admin'], **scope)
    assert is_allowed(enforcer, context, rule) == allowed


def test_scopes_when_a_rule_is_of_a_route_are_declared() -> None:
    for rule in policy.list_rules():
        has_scopes = rule.scope_types is not None
        needed = ':' in rule.name or rule.name == policy.GLOBAL_PROJECT
        assert has_scopes == (needed and rule.name != 'webhooks:trigger')


def test_options_when_listed_for_the_generator_are_whole() -> None:
    groups = dict(api_conf.list_opts())
    assert groups.keys() == {'api'}


@pytest.mark.parametrize(
    'damage',
    [
        lambda file: file.unlink(),
        lambda file: file.write_text('"clusters:delete": [role'),
        lambda file: file.write_text('- a list'),
        lambda file: file.write_bytes(b'\xff'),
        lambda file: (file.unlink(), file.mkdir()),
    ],
)
def test_rules_when_the_file_is_damaged_stay_in_force(
    damage: Any, tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    now = [0.0]
    file = tmp_path / 'policy.yaml'
    file.write_text('"clusters:delete": "role:boss"\n')
    conf = conftest.make_conf()
    use_policy_file(conf, file)
    enforcer = policy.Enforcer(conf, clock=lambda: now[0])

    def allows() -> bool:
        now[0] += 2 * policy.CACHE_SECONDS
        return enforcer.allows(caller('member'), 'clusters:delete')

    assert not allows()
    damage(file)
    assert not allows()
    assert not allows()
    (message,) = [
        record.getMessage()
        for record in caplog.records
        if record.name == policy.__name__
    ]
    assert message.startswith('Keeping the policy rules: ')
    assert str(file) in message
    assert '\n' not in message

    if file.is_dir():
        file.rmdir()
    file.write_text('"clusters:delete": "role:member"\n')
    assert allows()


@pytest.mark.parametrize(
    ('content', 'reason'),
    [
        (b'clusters:get: [', 'line 1'),
        (b'clusters:get:\n\t- role:x', 'line 2'),
        (b'- clusters:get', 'list'),
        (b'clusters:get', 'str'),
        (b'\xff\xfe', 'utf-8'),
        (b'\0', '#x0000'),
        (b'[' * 3000, 'recursion'),
        (b'clusters:get: 5', 'int'),
        (b'clusters:get: {a: b}', 'clusters:get'),
        (b'clusters:get: role:a or', "'role:a or' is not a rule"),
        (b'clusters:get: rule:clusters:get', 'clusters:get'),
        (b'clusters:get: rule:none', 'clusters:get'),
    ],
)
def test_configuration_when_the_policy_file_is_broken_names_it_in_a_line(
    tmp_path: pathlib.Path,
    content: bytes,
    reason: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    file = tmp_path / 'policy.yaml'
    file.write_bytes(content)
    conf = conftest.make_conf()
    use_policy_file(conf, file)
    with pytest.raises(policy.InvalidPolicy) as caught:
        policy.check(conf)
    text = str(caught.value)
    assert str(file) in text
    assert reason in text
    assert '\n' not in text
    assert 'Traceback' not in caplog.text


@pytest.mark.parametrize('rule', ['!', '(!)', '@', '', 'not role:x', '[]'])
def test_configuration_when_a_policy_rule_is_simple_is_accepted(
    tmp_path: pathlib.Path, rule: str
) -> None:
    file = tmp_path / 'policy.yaml'
    file.write_text(f'clusters:get: {rule if rule == "[]" else repr(rule)}')
    conf = conftest.make_conf()
    use_policy_file(conf, file)
    policy.check(conf)
