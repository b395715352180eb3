# SPDX-License-Identifier: Apache-2.0
"""The options ``[provider_openstack]`` that need no library."""

from __future__ import annotations

from oslo_config import cfg

GROUP = cfg.OptGroup(
    'provider_openstack',
    'The cloud of [engine] provider = openstack. It is one of clouds.yaml, or'
    " keystoneauth's options auth_type, auth_url and so on say how to reach"
    ' it.',
)

OPTIONS = [
    cfg.StrOpt(
        'cloud',
        help='Name of a cloud in clouds.yaml. If it is given, the options of'
        ' keystoneauth in this section do not count.',
    ),
    cfg.StrOpt(
        'account',
        default='project',
        choices=[
            (
                'project',
                'the project of whoever asks, who trusts the account of'
                ' [receivers] for it; without Keystone as "service"',
            ),
            ('service', 'that of the account of this section, for everybody'),
        ],
        help='In whose project nodes are made.',
    ),
    cfg.StrOpt(
        'region_name',
        help='Region that nodes are made in of which nothing else is said.',
    ),
    cfg.StrOpt(
        'interface',
        default='public',
        choices=['public', 'internal', 'admin'],
        help='Endpoints of the catalogue that are used, unless clouds.yaml'
        ' says otherwise.',
    ),
    cfg.FloatOpt(
        'request_timeout',
        default=60.0,
        min=0.1,
        help='Seconds that a request to the cloud may take.',
    ),
    cfg.IntOpt(
        'retries',
        default=3,
        min=0,
        help='How often a request is repeated that could not be sent, or was'
        ' answered with 429 or 503.',
    ),
    cfg.FloatOpt(
        'retry_delay',
        default=0.5,
        min=0.0,
        help='Seconds before the first repetition; twice as long before each'
        ' further one.',
    ),
    cfg.FloatOpt(
        'server_timeout',
        default=600.0,
        min=0.1,
        help='Seconds in which a server has to be as it was asked for.',
    ),
    cfg.FloatOpt(
        'stack_timeout',
        default=3600.0,
        min=0.1,
        help='Seconds in which a stack has to be as it was asked for, unless'
        ' its profile says otherwise.',
    ),
    cfg.MultiStrOpt(
        'notification_url',
        default=[],
        secret=True,
        help='Where Nova sends versioned notifications: a transport URL of'
        ' oslo.messaging, such as rabbit://user:password@host:5672/; one for'
        ' each region. It is needed for LIFECYCLE_EVENTS of health policies.'
        ' Where [oslo_messaging_rabbit] of Nova is not as oslo.messaging has'
        ' it by default, its options are in the query, as in'
        ' ?amqp_durable_queues=true; those of this service do not count.',
    ),
    cfg.StrOpt(
        'notification_exchange',
        default='nova',
        help='The control exchange of Nova.',
    ),
    cfg.StrOpt(
        'notification_pool',
        default='vobjects',
        help='Name of the queue by which all engines listen, each to a part;'
        ' another one for another deployment of the service.',
    ),
    cfg.FloatOpt(
        'poll_interval',
        default=2.0,
        min=0.01,
        help='Seconds between two looks at what is on its way.',
    ),
]
