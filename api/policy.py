# SPDX-License-Identifier: Apache-2.0
"""Who may do what: oslo.policy, with defaults in code.

Three roles, each of which includes the one before: *reader*, *member*,
*admin*. Each rule also says of what scope a token has to be: what belongs to
projects takes one for a project, so that nobody asks without being in one.

That a project sees only its own resources is not said here but kept by the
engine; :data:`GLOBAL_PROJECT` lifts it for a list. An operator overrides
rules in the file that ``[oslo_policy] policy_file`` names.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable

from oslo_config import cfg
from oslo_policy import policy as oslo_policy

from api import errors, routes
from vobjects.clustering.context import RequestContext

IS_ADMIN = 'context_is_admin'
MEMBER = 'member_or_above'
READER = 'reader_or_above'
EVERYBODY = 'everybody'

#: Listing what belongs to other projects.
GLOBAL_PROJECT = 'global_project'

#: Seconds for which an answer of oslo.policy is used again, and how many.
REMEMBERED = 2.0
MAX_REMEMBERED = 4096

_BASE = (
    (IS_ADMIN, 'role:admin', 'Who is an admin of the service.'),
    (MEMBER, f'role:member or rule:{IS_ADMIN}', 'Who may change things.'),
    (READER, f'role:reader or rule:{MEMBER}', 'Who may look.'),
    (EVERYBODY, '@', 'Everybody, known or not.'),
)

#: Scope of tokens: by default that of a project. What belongs to none may be
#: asked with a token for the whole system, too.
PROJECT = ('project',)
ANY_SCOPE = ('system', 'project')
_SCOPES = {
    'build_info': ANY_SCOPE,
    'services': ANY_SCOPE,
    'profile_types': ANY_SCOPE,
    'policy_types': ANY_SCOPE,
    'webhooks': (),  # called without a token
}

#: Rule, who may, what it is about.
_RULES = (
    ('build_info:build_info', READER, 'Show which build serves.'),
    ('services:index', IS_ADMIN, 'List the engine processes.'),
    ('profile_types:index', READER, 'List profile types.'),
    ('profile_types:get', READER, "Show a profile type's schema."),
    ('profile_types:ops', READER, "List a profile type's operations."),
    ('profiles:index', READER, 'List profiles.'),
    ('profiles:create', MEMBER, 'Create a profile.'),
    ('profiles:validate', MEMBER, 'Check a spec without creating a profile.'),
    ('profiles:get', READER, 'Show a profile.'),
    ('profiles:update', MEMBER, 'Change a profile.'),
    ('profiles:delete', MEMBER, 'Delete a profile.'),
    ('policy_types:index', READER, 'List policy types.'),
    ('policy_types:get', READER, "Show a policy type's schema."),
    ('policies:index', READER, 'List policies.'),
    ('policies:create', MEMBER, 'Create a policy.'),
    ('policies:validate', MEMBER, 'Check a spec without creating a policy.'),
    ('policies:get', READER, 'Show a policy.'),
    ('policies:update', MEMBER, 'Change a policy.'),
    ('policies:delete', MEMBER, 'Delete a policy.'),
    ('clusters:index', READER, 'List clusters.'),
    ('clusters:create', MEMBER, 'Create a cluster.'),
    ('clusters:get', READER, 'Show a cluster.'),
    ('clusters:update', MEMBER, 'Change a cluster.'),
    ('clusters:delete', MEMBER, 'Delete a cluster.'),
    ('clusters:action', MEMBER, 'Resize, scale, check or recover a cluster.'),
    ('clusters:operation', MEMBER, 'Operate on the nodes of a cluster.'),
    ('clusters:collect', READER, 'Collect an attribute of all nodes.'),
    ('cluster_policies:index', READER, 'List the policies of a cluster.'),
    ('cluster_policies:get', READER, 'Show a policy of a cluster.'),
    ('nodes:index', READER, 'List nodes.'),
    ('nodes:create', MEMBER, 'Create a node.'),
    ('nodes:get', READER, 'Show a node.'),
    ('nodes:update', MEMBER, 'Change a node.'),
    ('nodes:delete', MEMBER, 'Delete a node.'),
    ('nodes:action', MEMBER, 'Check or recover a node.'),
    ('nodes:operation', MEMBER, 'Operate on a node.'),
    # Engines reach clouds with an account of theirs: nobody knows whether
    # what is adopted is the caller's.
    ('nodes:adopt', IS_ADMIN, 'Make a node of what the cloud has already.'),
    ('nodes:adopt-preview', IS_ADMIN, 'Show what would be adopted.'),
    ('actions:index', READER, 'List actions.'),
    ('actions:get', READER, 'Show an action.'),
    ('actions:update', MEMBER, 'Cancel an action.'),
    ('events:index', READER, 'List events.'),
    ('events:get', READER, 'Show an event.'),
    ('receivers:index', READER, 'List receivers.'),
    ('receivers:create', MEMBER, 'Create a receiver.'),
    ('receivers:get', READER, 'Show a receiver.'),
    ('receivers:update', MEMBER, 'Change a receiver.'),
    ('receivers:delete', MEMBER, 'Delete a receiver.'),
    ('receivers:notify', MEMBER, 'Have a receiver look for messages.'),
    ('webhooks:trigger', EVERYBODY, 'Start the action of a receiver.'),
)


def list_rules() -> list[oslo_policy.RuleDefault]:
    """Return the defaults, for oslo.policy's generators too."""
    lists = [route for route in routes.ROUTES if _has_global(route)]
    return [
        *(
            oslo_policy.RuleDefault(name, check, description)
            for name, check, description in _BASE
        ),
        oslo_policy.DocumentedRuleDefault(
            GLOBAL_PROJECT,
            f'rule:{IS_ADMIN}',
            'List resources of all projects.',
            _operations(lists),
            scope_types=list(PROJECT),
        ),
        *(
            oslo_policy.DocumentedRuleDefault(
                name,
                f'rule:{check}',
                description,
                _operations([r for r in routes.ROUTES if r.rule == name]),
                scope_types=_scopes(name),
            )
            for name, check, description in _RULES
        ),
    ]


class Enforcer:
    """Asks oslo.policy, and remembers what it said for a moment.

    oslo.policy looks for its files again at every question, which takes
    longer than everything else the API does for a request. A change of the
    files is heard after :data:`REMEMBERED` seconds.

    :param conf: with ``[oslo_policy]``
    :param clock: monotonic seconds
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._enforcer = oslo_policy.Enforcer(conf)
        self._enforcer.register_defaults(list_rules())
        self._enforcer.load_rules()
        self._clock = clock
        self._said: dict[Hashable, bool] = {}
        self._forget_at = clock() + REMEMBERED

    def is_admin(self, context: RequestContext) -> bool:
        """Tell whether the roles make the caller an admin."""
        return self._allows(context, IS_ADMIN)

    def check(self, context: RequestContext, rule: str) -> None:
        """Refuse what a rule does not allow.

        :raises api.errors.Forbidden: naming the rule
        """
        if not self._allows(context, rule):
            raise errors.Forbidden(rule)

    def _allows(self, context: RequestContext, rule: str) -> bool:
        now = self._clock()
        if now >= self._forget_at or len(self._said) >= MAX_REMEMBERED:
            self._said = {}
            self._forget_at = now + REMEMBERED
        said = self._said
        # Everything of a caller that a rule can look at.
        key = (
            rule,
            context.user_id,
            context.user_domain_id,
            context.project_id,
            context.project_domain_id,
            context.domain_id,
            context.system_scope,
            context.is_admin_project,
            *context.roles,
            None,
            *context.service_roles,
            context.service_user_id,
            context.service_user_domain_id,
            context.service_project_id,
            context.service_project_domain_id,
        )
        allowed = said.get(key)
        if allowed is None:
            target = {'project_id': context.project_id}
            allowed = said[key] = bool(
                self._enforcer.authorize(rule, target, context)
            )
        return allowed


def enforcer() -> oslo_policy.Enforcer:
    """Return oslo.policy's own, for its command line tools.

    They have put their arguments, a configuration file of this service among
    them, into ``cfg.CONF``.
    """
    made = oslo_policy.Enforcer(cfg.CONF)
    made.register_defaults(list_rules())
    return made


def _scopes(rule: str) -> list[str] | None:
    return list(_SCOPES.get(rule.partition(':')[0], PROJECT)) or None


def _has_global(route: routes.Route) -> bool:
    return GLOBAL_PROJECT in route.request.fields


def _operations(found: list[routes.Route]) -> list[oslo_policy.Operation]:
    pairs = dict.fromkeys((route.method, route.path) for route in found)
    return [{'method': method, 'path': path} for method, path in pairs]
