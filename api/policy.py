# SPDX-License-Identifier: Apache-2.0
"""Authorization with oslo.policy: roles, default rules and the enforcer.

The roles are *reader*, *member* and *admin*; each includes the one before.
Rules also require a token scope: project resources require a project-scoped
token, so that every caller works in a project.

The engine, not a rule, limits callers to the resources of their project;
:data:`GLOBAL_PROJECT` lifts that limit for lists. Operators override rules in
the file that ``[oslo_policy] policy_file`` names.
"""

from __future__ import annotations

import contextlib
import copy
import logging
import os
import pathlib
import time
from collections.abc import Callable, Hashable
from typing import Any

from oslo_config import cfg
from oslo_policy import opts
from oslo_policy import policy as oslo_policy

from api import errors, routes
from vobjects import exceptions, objects
from vobjects.cli import special_files
from vobjects.clustering import consts
from vobjects.clustering import errors as engine_errors
from vobjects.clustering.context import RequestContext
from vobjects.clustering.requests import receivers
from vobjects_contract import type_schemas

LOG = logging.getLogger(__name__)

# It logs a traceback for each rule that it cannot parse; _load() rejects them.
logging.getLogger('oslo_policy._parser').setLevel(logging.CRITICAL)

IS_ADMIN = 'context_is_admin'
MEMBER = 'member_or_above'
READER = 'reader_or_above'
EVERYBODY = 'everybody'

#: Rule for listing resources of all projects.
GLOBAL_PROJECT = 'global_project'

#: Actions whose requests have a separate path and rule.
_OWN_RULES = {
    'CLUSTER_DELETE': 'clusters:delete',
    'CLUSTER_UPDATE': 'clusters:update',
    'CLUSTER_OPERATION': 'clusters:operation',
}

#: Action that a receiver can start -> rule for the request that starts the
#: action directly.
RECEIVER_ACTIONS = {
    action: _OWN_RULES.get(action, 'clusters:action')
    for action in consts.CLUSTER_ACTIONS
    if action != 'CLUSTER_CREATE'
}

#: Rules for requests whose receivers are checked for their actions.
CHECKED_RECEIVERS = (
    'receivers:create',
    'receivers:update',
    'receivers:notify',
    'webhooks:trigger',
)

#: Lifetime in seconds and size of the cache of oslo.policy's decisions.
CACHE_SECONDS = 2.0
CACHE_SIZE = 4096

_BASE = (
    (IS_ADMIN, 'role:admin', 'Administrators of the service.'),
    (
        MEMBER,
        f'role:member or rule:{IS_ADMIN}',
        'Users who may change resources.',
    ),
    (READER, f'role:reader or rule:{MEMBER}', 'Users who may view resources.'),
    (EVERYBODY, '@', 'All callers, authenticated or not.'),
)

#: Token scopes: by default, project. Resources that belong to no project also
#: accept system-scoped tokens.
PROJECT = ('project',)
ANY_SCOPE = ('system', 'project')
_SCOPES = {
    'build_info': ANY_SCOPE,
    'services': ANY_SCOPE,
    'profile_types': ANY_SCOPE,
    'policy_types': ANY_SCOPE,
    'webhooks': (),  # called without a token
}

#: Rules with another role than that of their method: by default, reads need
#: the role reader, and changes the role member.
_ROLES = {
    'services:index': IS_ADMIN,
    # Engines access clouds with a service account, so the service cannot
    # verify that an adopted server belongs to the caller.
    'nodes:adopt': IS_ADMIN,
    'nodes:adopt-preview': IS_ADMIN,
    'webhooks:trigger': EVERYBODY,
}
#: Descriptions of the rules for several types of requests.
_DESCRIPTIONS = {
    'clusters:action': 'Resize, scale, check or recover a cluster',
    'nodes:action': 'Check or recover a node',
}


def list_rules() -> list[oslo_policy.RuleDefault]:
    """Return the default rules; oslo.policy's generators call this, too."""
    lists = [route for route in routes.ROUTES if _has_global_project(route)]
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
        *map(_rule, dict.fromkeys(route.rule for route in routes.ROUTES)),
    ]


def _rule(name: str) -> oslo_policy.DocumentedRuleDefault:
    """Return the default of the rule for some routes."""
    its_routes = [route for route in routes.ROUTES if route.rule == name]
    first = its_routes[0]
    role = READER if first.method == routes.GET else MEMBER
    description = _DESCRIPTIONS.get(name) or type_schemas.summary(
        first.request
    )
    return oslo_policy.DocumentedRuleDefault(
        name,
        f'rule:{_ROLES.get(name, role)}',
        f'{description}.',
        _operations(its_routes),
        scope_types=_scopes(name),
    )


class InvalidPolicy(exceptions.VobjectsError):
    """A policy file cannot be read."""


def check(conf: cfg.ConfigOpts) -> oslo_policy.Enforcer:
    """Load the policy files.

    :raises InvalidPolicy: names the files and the fault
    """
    opts.set_defaults(conf)  # registers the options
    try:
        return _load(conf)
    except Exception as error:
        names = ', '.join(sorted(_paths(conf)))
        reason = ' '.join(str(error).split()) or type(error).__name__
        raise InvalidPolicy(
            f'[oslo_policy]: cannot load {names}: {reason}; write one "name:'
            ' rule" per line, in YAML'
        ) from error


class Enforcer:
    """Ask oslo.policy for decisions, and cache them briefly.

    oslo.policy checks its files for changes at every decision, which takes
    longer than the rest of a request in the API. With the cache, changes of
    the files take effect after :data:`CACHE_SECONDS` seconds.

    If a file disappears or cannot be read, the last good rules stay in force:
    the default rules may allow what the operator's rules forbid. To return to
    the default rules, restart the API.

    :param conf: with ``[oslo_policy]``
    :param clock: returns monotonic seconds
    :raises InvalidPolicy: a file cannot be read
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        opts.set_defaults(conf)
        self._conf = conf
        self._files = self._seen = _files(conf)
        self._enforcer = check(conf)
        self._clock = clock
        self._decisions: dict[Hashable, bool] = {}
        self._cache_expires = clock() + CACHE_SECONDS

    def is_admin(self, context: RequestContext) -> bool:
        """Return whether the caller's roles make them an admin."""
        return self.allows(context, IS_ADMIN)

    def check(self, context: RequestContext, rule: str) -> None:
        """Reject a caller that a rule does not allow.

        :raises api.errors.Forbidden: names the rule
        """
        if not self.allows(context, rule):
            raise errors.Forbidden(rule)

    def denied_actions(self, context: RequestContext) -> list[str]:
        """Return the actions that a receiver must not start for a caller."""
        denied = {
            rule
            for rule in {*RECEIVER_ACTIONS.values()}
            if not self.allows(context, rule)
        }
        return [
            action
            for action, rule in RECEIVER_ACTIONS.items()
            if rule in denied
        ]

    def allows(self, context: RequestContext, rule: str) -> bool:
        """Return whether a rule allows a caller."""
        now = self._clock()
        if now >= self._cache_expires or len(self._decisions) >= CACHE_SIZE:
            self._reload()
            self._decisions = {}
            self._cache_expires = now + CACHE_SECONDS
        decisions = self._decisions
        # All attributes of a caller that rules can use.
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
        allowed = decisions.get(key)
        if allowed is None:
            target = {'project_id': context.project_id}
            allowed = decisions[key] = bool(
                self._enforcer.authorize(rule, target, context)
            )
        return allowed

    def _reload(self) -> None:
        """Load changed files; log each change once."""
        files = _files(self._conf)
        if files == self._seen:
            return
        self._seen = files
        if missing := self._files.keys() - files.keys():
            names = ', '.join(sorted(missing))
            LOG.error('Keeping the policy rules: %s is missing', names)
            return
        try:
            loaded = check(self._conf)
        except InvalidPolicy as error:
            LOG.error('Keeping the policy rules: %s', error)
            return
        if _files(self._conf) != files:  # oslo.policy ignores missing files
            return
        self._enforcer, self._files = loaded, files
        LOG.info('Loaded the changed policy rules')


def denied_actions(
    enforcer: Enforcer,
    caller: RequestContext,
    receiver_id: str | None,
    send: Callable[[RequestContext, objects.Request], Any],
) -> list[str]:
    """Return the actions denied to the caller or to a receiver's owner.

    A receiver starts an action only if its owner may start it directly. An
    engine knows the owner and the action, and the API knows the rules: the API
    asks for the owner first, and sends the names of the forbidden actions with
    the request.

    :param caller: without a user if anyone may call, as for webhooks; only the
        owner's permissions count then
    :param receiver_id: None: the caller is about to create a receiver
    :param send: sends a request to an engine, and returns its result
    """
    denied = enforcer.denied_actions(caller) if caller.user_id else []
    if receiver_id is None:
        return denied
    asking = copy.copy(caller)
    asking.asks_owner = True
    try:
        receiver = send(
            asking, receivers.ReceiverGetRequest(identity=receiver_id)
        )
    except engine_errors.ResourceNotFound:
        # The request fails, too, or an engine of an earlier release does not
        # find receivers for callers without a project.
        return denied
    if not receiver.actor:  # from an engine of an earlier release
        return denied
    owner = RequestContext(
        user_id=receiver.user,
        project_id=receiver.project,
        domain_id=receiver.domain,
        **receiver.actor,
    )
    return [*denied, *enforcer.denied_actions(owner)]


def _load(conf: cfg.ConfigOpts) -> oslo_policy.Enforcer:
    """Return an enforcer with the rules in the files, which it never reloads.

    :raises ValueError: oslo.policy cannot parse a rule
    :raises Exception: as oslo.policy does for a file that cannot be read
    """
    for path in _paths(conf):
        kind = special_files.kind_of(path)
        if kind and not os.path.isdir(path):
            raise ValueError(f'{path} is {kind}')
    enforcer = oslo_policy.Enforcer(conf)
    enforcer.register_defaults(list_rules())
    enforcer.load_rules()
    enforcer.use_conf = False
    for name, rule in enforcer.file_rules.items():
        text = rule.check_str
        # oslo.policy denies everything by a rule that it cannot parse.
        if str(rule.check) == '!' and str(text).strip(' ()') != '!':
            raise ValueError(f'{name}: {exceptions.cut(text)} is not a rule')
    # A rule that refers to itself would fail when a request needs it.
    enforcer.check_rules(raise_on_violation=True)
    return enforcer


def _paths(conf: cfg.ConfigOpts) -> list[str]:
    """Return the policy file, and all that is in the policy directories."""
    options = conf.oslo_policy
    file = conf.find_file(options.policy_file)
    paths = [file] if file else []
    for name in options.policy_dirs:
        if directory := conf.find_file(name):
            paths += [str(path) for path in pathlib.Path(directory).iterdir()]
    return paths


def _files(conf: cfg.ConfigOpts) -> dict[str, tuple[int, int, int]]:
    """Return each policy file with its inode, size and time of change."""
    files = {}
    for path in _paths(conf):
        with contextlib.suppress(OSError):
            if os.path.isfile(path):
                status = os.stat(path)
                files[path] = status.st_ino, status.st_size, status.st_mtime_ns
    return files


def enforcer() -> oslo_policy.Enforcer:
    """Return an oslo.policy enforcer for its command line tools.

    The tools put their arguments, such as a configuration file of this
    service, into ``cfg.CONF``.
    """
    enforcer = oslo_policy.Enforcer(cfg.CONF)
    enforcer.register_defaults(list_rules())
    return enforcer


def _scopes(rule: str) -> list[str] | None:
    return list(_SCOPES.get(rule.partition(':')[0], PROJECT)) or None


def _has_global_project(route: routes.Route) -> bool:
    return GLOBAL_PROJECT in route.request.fields


def _operations(routes_: list[routes.Route]) -> list[oslo_policy.Operation]:
    pairs = dict.fromkeys((route.method, route.path) for route in routes_)
    return [{'method': method, 'path': path} for method, path in pairs]
