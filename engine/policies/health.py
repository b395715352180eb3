# SPDX-License-Identifier: Apache-2.0
"""``senlin.policy.health``: how sick nodes are found and recovered.

Attached, it has the cluster looked after by the health managers of all
engines (:mod:`engine.health`), which leave alone what an action works on. The
recovery of a cluster that says nothing of how does it as the policy says;
what is decided then is below ``health``.
"""

from __future__ import annotations

import urllib.parse
from collections.abc import Mapping
from typing import Any

import regex
from oslo_config import cfg
from sqlalchemy import orm

from engine.db import health
from engine.policies import base
from engine.profiles import schema
from engine.profiles.schema import Property
from vobjects import exceptions
from vobjects.clustering import consts, errors

EVENTS = 'LIFECYCLE_EVENTS'
URL = 'NODE_STATUS_POLL_URL'
STATUS = 'NODE_STATUS_POLLING'
HYPERVISOR = 'HYPERVISOR_STATUS_POLLING'

SERVER = 'os.nova.server'

_POLLING = {
    'poll_url': Property('String', 'URL that tells of a node.', default=''),
    'poll_url_ssl_verify': Property(
        'Boolean', "Whether the URL's certificate is checked.", default=True
    ),
    'poll_url_conn_error_as_unhealthy': Property(
        'Boolean',
        'Whether a node is sick whose URL cannot be reached.',
        default=True,
    ),
    'poll_url_healthy_response': Property(
        'String', 'What the URL says of a node that is well.', default=''
    ),
    'poll_url_retry_limit': Property(
        'Integer', 'How often the URL is asked again.', default=3
    ),
    'poll_url_retry_interval': Property(
        'Integer', 'Seconds before the URL is asked again.', default=3
    ),
}

_DETECTION = {
    'interval': Property('Integer', 'Seconds between two looks.', default=60),
    'node_update_timeout': Property(
        'Integer',
        'Seconds after its last change in which a node is not looked at.',
        default=300,
    ),
    'recovery_conditional': Property(
        'String',
        'Whether a node is sick when one mode says so, or when all do.',
        default='ANY_FAILED',
        allowed=('ALL_FAILED', 'ANY_FAILED'),
    ),
    'detection_modes': Property(
        'List',
        'The ways in which sick nodes are found.',
        items=Property(
            'Map',
            'A way in which sick nodes are found.',
            keys={
                'type': Property(
                    'String',
                    'The kind of detection.',
                    required=True,
                    allowed=(EVENTS, STATUS, URL, HYPERVISOR),
                ),
                'options': Property('Map', 'How it is done.', keys=_POLLING),
            },
        ),
    ),
}

_RECOVERY = {
    'actions': Property(
        'List',
        'What is tried, one after the other.',
        items=Property(
            'Map',
            'What is tried.',
            keys={
                'name': Property(
                    'String',
                    'Name of the operation.',
                    required=True,
                    allowed=consts.RECOVERY_OPERATIONS,
                ),
                'params': Property('Map', 'What the operation is told.'),
            },
        ),
    ),
    'fencing': Property(
        'List',
        'The services to be fenced.',
        items=Property(
            'String',
            'A service to be fenced.',
            required=True,
            allowed=('COMPUTE',),
        ),
    ),
    'node_delete_timeout': Property(
        'Integer',
        'Seconds in which a node that is made anew has to be gone.',
        default=20,
    ),
    'node_force_recreate': Property(
        'Boolean',
        'Whether a node is made anew that could not be deleted.',
        default=False,
    ),
}

#: Parameters of an operation -> their values.
_PARAMETERS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    'REBOOT': {'type': ('SOFT', 'HARD')},
    'REBUILD': {},
    'RECREATE': {},
}

#: Longest pattern of a healthy answer.
_PATTERN_LENGTH = 1000


class HealthPolicy(base.PolicyType):
    """Version 1.0; see the module's docstring."""

    name = 'senlin.policy.health'
    version = '1.0'
    support_status = {
        '1.0': [
            {'status': consts.EXPERIMENTAL, 'since': '2017.02'},
            {'status': consts.SUPPORTED, 'since': '2018.06'},
        ],
        '1.1': [{'status': consts.SUPPORTED, 'since': '2018.09'}],
        '1.2': [{'status': consts.SUPPORTED, 'since': '2020.09'}],
    }
    priority = 600
    targets = {base.BEFORE: ('CLUSTER_RECOVER',)}
    profile_types = (SERVER, 'os.heat.stack')
    label = 'HealthPolicy'
    properties = {
        'detection': Property(
            'Map',
            'How sick nodes are found.',
            required=True,
            keys=_DETECTION,
        ),
        'recovery': Property(
            'Map',
            'How sick nodes are recovered.',
            required=True,
            keys=_RECOVERY,
        ),
    }

    def check_properties(self, properties: Mapping[str, Any]) -> None:
        """Refuse detections that find nothing and recoveries of two minds."""
        detection = properties['detection']
        _check_modes(detection['detection_modes'])
        for name, least in (('interval', 1), ('node_update_timeout', 0)):
            if detection[name] < least:
                raise errors.InvalidSpec(
                    f'properties.detection.{name} must be >= {least}'
                )
        recovery = properties['recovery']
        if len(recovery['actions']) > 1:
            raise errors.InvalidSpec(
                "Only one 'actions' is supported for now."
            )
        for action in recovery['actions']:
            _check_parameters(action)
        if recovery['node_delete_timeout'] < 0:
            raise errors.InvalidSpec(
                'properties.recovery.node_delete_timeout must be >= 0'
            )

    def plan(self, target: base.Target) -> dict[str, Any]:
        """Refuse what neither the cloud nor the nodes can do."""
        detection = target.properties['detection']
        least = target.conf.health_manager.interval_min
        if detection['interval'] < least:
            raise base.PolicyRefusal(
                f'Specified interval of {detection["interval"]} seconds has'
                f' to be larger than the interval_min of {least} seconds set'
                ' in configuration.'
            )
        modes = {mode['type'] for mode in detection['detection_modes']}
        if EVENTS in modes and target.cloud.lifecycle is None:
            raise base.PolicyRefusal(
                f'{EVENTS}: the cloud tells nothing of its servers by itself;'
                f' use {STATUS}'
            )
        if HYPERVISOR in modes and target.cloud.hosts is None:
            raise base.PolicyRefusal(
                f'{HYPERVISOR}: the cloud does not tell how its hosts are'
            )
        kind = target.profile.type.rpartition('-')[0]
        operation = recovery_of(target.properties)['operation']
        if kind != SERVER:
            for mode in modes & {EVENTS, HYPERVISOR}:
                raise base.PolicyRefusal(
                    f'{mode} is only applicable to {SERVER} clusters.'
                )
            if operation != 'RECREATE':
                raise base.PolicyRefusal(
                    f'Recovery action {operation} is only applicable to'
                    f' {SERVER} clusters.'
                )
        fences = bool(target.properties['recovery']['fencing'])
        if fences and (operation != 'RECREATE' or kind != SERVER):
            raise base.PolicyRefusal(
                'fencing: only servers that are made anew (RECREATE) can be'
                ' fenced'
            )
        return {}

    def attach(
        self, target: base.Target, planned: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return what is shown of it; nothing is made."""
        detection = target.properties['detection']
        recovery = target.properties['recovery']
        return self.wrapped(
            {
                'interval': detection['interval'],
                'node_update_timeout': detection['node_update_timeout'],
                'recovery_conditional': detection['recovery_conditional'],
                'node_delete_timeout': recovery['node_delete_timeout'],
                'node_force_recreate': recovery['node_force_recreate'],
                'detection_modes': [
                    {'type': mode['type'], **(mode['options'] or {})}
                    for mode in detection['detection_modes']
                ],
            }
        )

    def bound(
        self,
        session: orm.Session,
        attached: base.Attached,
        conf: cfg.ConfigOpts,
    ) -> None:
        """Have the cluster looked at, or not while it is disabled."""
        detection = attached.properties['detection']
        modes = {mode['type'] for mode in detection['detection_modes']}
        health.register(
            session,
            attached.binding.cluster_id,
            attached.policy.id,
            interval=(
                conf.health_manager.events_interval
                if EVENTS in modes
                else detection['interval']
            ),
            enabled=attached.binding.enabled,
        )

    def unbound(self, session: orm.Session, attached: base.Attached) -> None:
        """Have the cluster looked at no more."""
        health.unregister(session, attached.binding.cluster_id)

    def pre_op(self, check: base.Check, attached: base.Attached) -> None:
        """Say how a cluster is recovered."""
        recovery = attached.properties['recovery']
        check.decided['health'] = {
            'recover_action': recovery['actions'],
            'fencing': recovery['fencing'] or [],
            'request': recovery_of(attached.properties),
        }


def recovery_of(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a NodeRecoverRequest that a policy leads to.

    :param properties: with every default
    """
    recovery = properties['recovery']
    action = (recovery['actions'] or [{'name': 'RECREATE'}])[0]
    fields: dict[str, Any] = {'operation': action['name']}
    parameters = dict(action.get('params') or {})
    if action['name'] == 'RECREATE':
        fields['delete_timeout'] = recovery['node_delete_timeout']
        fields['force_recreate'] = recovery['node_force_recreate']
        if 'COMPUTE' in (recovery['fencing'] or ()):
            parameters['fence_compute'] = True
    if parameters:
        fields['operation_params'] = parameters
    return fields


def options_of(mode: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the options of a mode of detection, with every default."""
    return schema.filled(_POLLING, mode.get('options') or {})


def _check_modes(modes: Any) -> None:
    names = [mode['type'] for mode in modes]
    if not names:
        raise errors.InvalidSpec(
            'properties.detection.detection_modes: at least one is needed'
        )
    if EVENTS in names and len(names) > 1:
        raise errors.InvalidSpec(
            f'Invalid detection modes in health policy: {", ".join(names)};'
            f' {EVENTS} stands alone'
        )
    if len(set(names)) < len(names):
        raise errors.InvalidSpec(
            'Duplicate detection modes are not allowed in health policy:'
            f' {", ".join(names)}'
        )
    for mode in modes:
        if mode['type'] == URL:
            _check_url(mode['options'] or {})


def _check_url(options: Mapping[str, Any]) -> None:
    path = f'the options of {URL}'
    # Braces are no part of a host name; a node's name is.
    url = (options.get('poll_url') or '').replace('{nodename}', 'node')
    try:
        parts = urllib.parse.urlsplit(url)
        is_url = parts.scheme in ('http', 'https') and bool(parts.hostname)
        is_url = is_url and parts.port != 0
    except ValueError:
        is_url = False
    if not is_url:
        raise errors.InvalidSpec(
            f'{path} need a poll_url, http or https, not'
            f' {exceptions.cut(options.get("poll_url"))}'
        )
    pattern = options.get('poll_url_healthy_response') or ''
    if len(pattern) > _PATTERN_LENGTH:
        raise errors.InvalidSpec(
            f'{path}: poll_url_healthy_response is longer than'
            f' {_PATTERN_LENGTH} characters'
        )
    try:
        regex.compile(pattern)
    except regex.error as error:
        raise errors.InvalidSpec(
            f'{path}: poll_url_healthy_response is no pattern: {error}'
        ) from None
    for name, most in (
        ('poll_url_retry_limit', 100),
        ('poll_url_retry_interval', 3600),
    ):
        value = options.get(name)
        if value is not None and not 0 <= value <= most:
            raise errors.InvalidSpec(
                f'{path}: {name} must be from 0 to {most}'
            )


def _check_parameters(action: Mapping[str, Any]) -> None:
    known = _PARAMETERS[action['name']]
    for name, value in (action.get('params') or {}).items():
        if name not in known:
            raise errors.InvalidSpec(
                f'recovery action {action["name"]} has no parameter'
                f' {exceptions.cut(name)}'
            )
        if str(value).upper() not in known[name]:
            raise errors.InvalidSpec(
                f'{name} of recovery action {action["name"]} must be one of'
                f' {", ".join(known[name])}'
            )


class HealthPolicy11(HealthPolicy):
    """Version 1.1: several ways of detection."""

    version = '1.1'


class HealthPolicy12(HealthPolicy):
    """Version 1.2: detection by hypervisor."""

    version = '1.2'
