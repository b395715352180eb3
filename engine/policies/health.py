# SPDX-License-Identifier: Apache-2.0
"""``senlin.policy.health``: how sick nodes are found and recovered."""

from __future__ import annotations

from engine.policies import base
from engine.profiles.schema import Property
from vobjects.clustering import consts

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
                    allowed=(
                        'LIFECYCLE_EVENTS',
                        'NODE_STATUS_POLLING',
                        'NODE_STATUS_POLL_URL',
                        'HYPERVISOR_STATUS_POLLING',
                    ),
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

_CHANGES = (
    'CLUSTER_RECOVER',
    'CLUSTER_DEL_NODES',
    'CLUSTER_SCALE_IN',
    'CLUSTER_RESIZE',
    'CLUSTER_UPDATE',
    'CLUSTER_REPLACE_NODES',
    'NODE_DELETE',
)


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
    targets = {base.BEFORE: _CHANGES, base.AFTER: _CHANGES}
    profile_types = ('os.nova.server', 'os.heat.stack')
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


class HealthPolicy11(HealthPolicy):
    """Version 1.1: several ways of detection."""

    version = '1.1'


class HealthPolicy12(HealthPolicy):
    """Version 1.2: detection by hypervisor."""

    version = '1.2'
