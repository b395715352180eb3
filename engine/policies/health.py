# SPDX-License-Identifier: Apache-2.0
"""``senlin.policy.health``: detect and recover unhealthy nodes.

While it is attached, the health managers of all engines check the cluster
(:mod:`engine.health`). They skip nodes with unfinished actions. A request to
recover the cluster that does not specify the operation uses that of the
policy. The decisions have the topic ``health``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from oslo_config import cfg
from sqlalchemy import orm

from engine import http_client, patterns, spec_schema
from engine.db import health
from engine.policies import base
from vobjects import exceptions, phrases
from vobjects.clustering import consts, errors

EVENTS = 'LIFECYCLE_EVENTS'
URL = 'NODE_STATUS_POLL_URL'
STATUS = 'NODE_STATUS_POLLING'
HYPERVISOR = 'HYPERVISOR_STATUS_POLLING'

SERVER = 'os.nova.server'

#: Maximum total pause between requests to a URL in one check, in seconds; a
#: worker of the health manager waits.
MAX_RETRY_SECONDS = 600

_PATH = spec_schema.PROPERTIES

SCHEMA = spec_schema.load(__package__, 'health')
_POLLING = spec_schema.part(
    SCHEMA.properties, 'detection', 'detection_modes', 'options'
)


#: Operation -> its parameters -> their accepted values.
_PARAMETERS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    'REBOOT': {'type': consts.REBOOT_TYPES},
    'REBUILD': {},
    'RECREATE': {},
}


class HealthPolicy(base.PolicyType):
    """Version 1.0 of the health policy."""

    name = 'senlin.policy.health'
    version = '1.0'
    priority = 600
    targets = {base.BEFORE: ('CLUSTER_RECOVER',)}
    profile_types = (SERVER, 'os.heat.stack')
    data_key = 'HealthPolicy'
    support_status = SCHEMA.support_status
    properties = SCHEMA.properties

    def check_properties(self, properties: Mapping[str, Any]) -> None:
        """Check detection modes and recovery actions."""
        _check_modes(properties['detection']['detection_modes'])
        recovery = properties['recovery']
        if len(recovery['actions']) > 1:
            raise errors.InvalidSpec(
                f'{_PATH}.recovery.actions: must have at most one item',
                "Only one 'actions' is supported for now.",
            )
        for action in recovery['actions']:
            _check_parameters(action)

    def plan(self, target: base.AttachmentTarget) -> dict[str, Any]:
        """Check that the cloud and the profile type support the policy."""
        detection = target.properties['detection']
        minimum = target.conf.health_manager.interval_min
        if detection['interval'] < minimum:
            raise base.PolicyCheckError(
                f'Specified interval of {detection["interval"]} seconds has'
                f' to be larger than the interval_min of {minimum} seconds set'
                ' in configuration.'
            )
        modes = {mode['type'] for mode in detection['detection_modes']}
        if EVENTS in modes and target.cloud.lifecycle is None:
            raise base.PolicyCheckError(
                f'{EVENTS}: the cloud does not report events of its servers;'
                f' use {STATUS}'
            )
        if HYPERVISOR in modes and target.cloud.hosts is None:
            raise base.PolicyCheckError(
                f'{HYPERVISOR}: the cloud does not report the status of its'
                ' hosts'
            )
        profile_type = target.profile.type.rpartition('-')[0]
        operation = recovery_of(target.properties)['operation']
        if profile_type != SERVER:
            for mode in modes & {EVENTS, HYPERVISOR}:
                raise base.PolicyCheckError(
                    f'{mode} is only applicable to {SERVER} clusters.'
                )
            if operation != 'RECREATE':
                raise base.PolicyCheckError(
                    f'Recovery action {operation} is only applicable to'
                    f' {SERVER} clusters.'
                )
        fences = bool(target.properties['recovery']['fencing'])
        if fences and (operation != 'RECREATE' or profile_type != SERVER):
            raise base.PolicyCheckError(
                'fencing: is supported only for servers that are recovered by'
                ' RECREATE'
            )
        return {}

    def attach(
        self, target: base.AttachmentTarget, plan: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the data to show in the API; nothing is created."""
        detection = target.properties['detection']
        recovery = target.properties['recovery']
        return self.wrap_data(
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

    def after_bind(
        self,
        session: orm.Session,
        attached: base.AttachedPolicy,
        conf: cfg.ConfigOpts,
    ) -> None:
        """Register the cluster for health checks, or disable them."""
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

    def before_unbind(
        self, session: orm.Session, attached: base.AttachedPolicy
    ) -> None:
        """Stop the health checks of the cluster."""
        health.unregister(session, attached.binding.cluster_id)

    def pre_op(
        self, context: base.PolicyContext, attached: base.AttachedPolicy
    ) -> None:
        """Decide how to recover the cluster."""
        recovery = attached.properties['recovery']
        context.decisions['health'] = {
            'recover_action': recovery['actions'],
            'fencing': recovery['fencing'] or [],
            'request': recovery_of(attached.properties),
        }


def recovery_of(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of the NodeRecoverRequest that a policy specifies.

    :param properties: the policy's properties, with all defaults
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
    """Return the options of a detection mode, with all defaults."""
    return spec_schema.with_defaults(_POLLING, mode.get('options') or {})


def _check_modes(modes: Any) -> None:
    names = [mode['type'] for mode in modes]
    if not names:
        raise errors.InvalidSpec(
            f'{_PATH}.detection.detection_modes: must have at least one item'
        )
    if EVENTS in names and len(names) > 1:
        raise errors.InvalidSpec(
            f'{_PATH}.detection.detection_modes: {EVENTS} cannot be combined'
            f' with other modes, but there are {", ".join(names)}',
            f'Invalid detection modes in health policy: {", ".join(names)}',
        )
    if len(set(names)) < len(names):
        raise errors.InvalidSpec(
            f'{_PATH}.detection.detection_modes: must have each type once,'
            f' not {", ".join(names)}',
            'Duplicate detection modes are not allowed in health policy:'
            f' {", ".join(names)}',
        )
    for position, mode in enumerate(modes):
        if mode['type'] == URL:
            path = f'{_PATH}.detection.detection_modes[{position}].options'
            _check_url(mode['options'] or {}, path)


def _check_url(options: Mapping[str, Any], path: str) -> None:
    # Braces are not valid in a host name, but a node's name is.
    url = (options.get('poll_url') or '').replace('{nodename}', 'node')
    if not http_client.is_url(url):
        raise errors.InvalidSpec(
            f'{path}.poll_url: must be an http or https URL, not'
            f' {exceptions.cut(options.get("poll_url"))}'
        )
    pattern = options.get('poll_url_healthy_response') or ''
    try:
        patterns.check(pattern)
    except patterns.PatternError as error:
        raise errors.InvalidSpec(
            f'{path}.poll_url_healthy_response: {error}'
        ) from None
    limit, interval = (
        spec_schema.with_defaults(_POLLING, options)[name]
        for name in ('poll_url_retry_limit', 'poll_url_retry_interval')
    )
    if limit * interval > MAX_RETRY_SECONDS:
        raise errors.InvalidSpec(
            f'{path}: poll_url_retry_limit * poll_url_retry_interval must be'
            f' at most {MAX_RETRY_SECONDS} seconds, not {limit * interval}'
        )


def _check_parameters(action: Mapping[str, Any]) -> None:
    allowed = _PARAMETERS[action['name']]
    path = f'{_PATH}.recovery.actions[0].params'
    for name, value in (action.get('params') or {}).items():
        if name not in allowed:
            raise errors.InvalidSpec(
                f'{phrases.format_path(path, [name])}:'
                f' {phrases.unknown_name(name, allowed)}'
            )
        if str(value).upper() not in allowed[name]:
            raise errors.InvalidSpec(
                f'{path}.{name}: {phrases.not_one_of(value, allowed[name])}'
            )


class HealthPolicy11(HealthPolicy):
    """Version 1.1, with several detection modes."""

    version = '1.1'


class HealthPolicy12(HealthPolicy):
    """Version 1.2, with detection by hypervisor status."""

    version = '1.2'
