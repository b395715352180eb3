# SPDX-License-Identifier: Apache-2.0
"""The options of ``[provider_openstack]``."""

from __future__ import annotations

from keystoneauth1 import loading
from oslo_config import cfg

from vobjects import number_options

GROUP = cfg.OptGroup(
    'provider_openstack',
    'Cloud of [engine] provider = openstack: a cloud of clouds.yaml, or the'
    ' cloud that the options of keystoneauth, such as auth_type and auth_url,'
    ' describe',
)

OPTIONS = [
    cfg.StrOpt(
        'cloud',
        help='Name of a cloud in clouds.yaml. If set, the options of'
        ' keystoneauth in this section are ignored.',
    ),
    cfg.StrOpt(
        'account',
        default='project',
        choices=[
            (
                'project',
                "the caller's project, by a trust with the account of"
                ' [receivers]; without Keystone, the same as "service"',
            ),
            (
                'service',
                "the project of this section's account, for all callers",
            ),
        ],
        help='Project in which nodes are created.',
    ),
    cfg.StrOpt(
        'region_name',
        help='Default region of new nodes.',
    ),
    cfg.StrOpt(
        'interface',
        default='public',
        choices=['public', 'internal', 'admin'],
        help='Interface of the endpoints in the service catalog, unless'
        ' clouds.yaml sets it.',
    ),
    cfg.FloatOpt(
        'request_timeout',
        default=60.0,
        min=0.1,
        help='Timeout of a request to the cloud, in seconds.',
    ),
    cfg.IntOpt(
        'retries',
        default=3,
        min=0,
        help='Maximum number of retries of a request that could not be sent,'
        ' or that failed with status 429 or 503.',
    ),
    cfg.FloatOpt(
        'retry_delay',
        default=0.5,
        min=0.0,
        help='Seconds before the first retry. The delay doubles with each'
        ' further retry.',
    ),
    cfg.FloatOpt(
        'server_timeout',
        default=600.0,
        min=0.1,
        help='Seconds within which a server must reach the requested state.',
    ),
    cfg.FloatOpt(
        'stack_timeout',
        default=3600.0,
        min=0.1,
        help='Seconds within which a stack must reach the requested state,'
        ' unless its profile sets a timeout.',
    ),
    cfg.MultiStrOpt(
        'notification_url',
        default=[],
        secret=True,
        help='Transport URL of oslo.messaging to which Nova sends versioned'
        ' notifications, such as pyamqp://user:password@host:5672/. Repeat'
        ' the option for each region. Health policies with LIFECYCLE_EVENTS'
        ' require it. If [oslo_messaging_rabbit] of Nova differs from the'
        ' defaults of oslo.messaging, add its options to the query, as in'
        " ?amqp_durable_queues=true; the options in this service's own"
        ' [oslo_messaging_rabbit] do not apply.',
    ),
    cfg.StrOpt(
        'notification_exchange',
        default='nova',
        help='Control exchange of Nova.',
    ),
    cfg.StrOpt(
        'notification_pool',
        default='vobjects',
        help='Name of the notification queue that all engines share. Each'
        ' notification goes to one engine. Use a different name for each'
        ' deployment of the service.',
    ),
    cfg.FloatOpt(
        'poll_interval',
        default=2.0,
        min=0.01,
        help='Seconds between polls of an operation in progress.',
    ),
]

number_options.restrict(OPTIONS)


def list_opts() -> list[tuple[cfg.OptGroup, list[cfg.Opt]]]:
    """Return keystoneauth's options for oslo.config's generator."""
    options: list[cfg.Opt] = [
        *loading.get_auth_common_conf_options(),
        *loading.get_auth_plugin_conf_options('v3password'),
        *loading.get_session_conf_options(),
    ]
    return [(GROUP, options)]
