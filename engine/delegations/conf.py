# SPDX-License-Identifier: Apache-2.0
"""Options of ``[receivers]``: the account that acts for owners, and keys.

How the account is authenticated is keystoneauth's to say.
"""

from __future__ import annotations

from keystoneauth1 import loading
from oslo_config import cfg

RECEIVERS = cfg.OptGroup(
    'receivers', 'What receivers may do for those who made them.'
)
GROUP = RECEIVERS.name

#: The account of the API, which asks Keystone about tokens, will do.
SECTION = 'keystone_authtoken'

#: Seconds within which Keystone has to answer.
TIMEOUT = 30

OPTIONS = [
    cfg.ListOpt(
        'encryption_keys',
        default=[],
        secret=True,
        help='Keys that encrypt the trusts of users in the database, the same'
        ' for all engines: 32 random bytes each, in URL-safe base64.'
        ' The first one encrypts, all decrypt. "vobjects db rotate-keys"'
        ' brings what others have encrypted to the first.',
    ),
    cfg.ListOpt(
        'trust_roles',
        default=[],
        help='The roles that users hand on by a trust; none: all that they'
        ' have in the project.',
    ),
    cfg.FloatOpt(
        'revoke_interval',
        default=60.0,
        min=1.0,
        help='Seconds between two looks for trusts that nothing uses any'
        ' more.',
    ),
]


def list_opts() -> list[tuple[cfg.OptGroup, list[cfg.Opt]]]:
    """Return keystoneauth's options for oslo.config's generator.

    Ours are in the list of :mod:`engine.conf`.
    """
    return [
        (
            RECEIVERS,
            [
                *loading.get_auth_common_conf_options(),
                *loading.get_session_conf_options(),
                *loading.get_auth_plugin_conf_options('v3password'),
            ],
        )
    ]


def register(conf: cfg.ConfigOpts) -> None:
    """Make keystoneauth's options known to ``conf``, too.

    Harmless when repeated.
    """
    conf.register_opts(loading.get_auth_common_conf_options(), group=GROUP)
    loading.register_session_conf_options(conf, GROUP)
    conf.set_default('timeout', TIMEOUT, GROUP)


def has_account(conf: cfg.ConfigOpts) -> bool:
    """Tell whether there is an account to act with, and find its options.

    :param conf: with its files read
    """
    if not (conf[GROUP].auth_section or conf[GROUP].auth_type):
        conf.set_default('auth_section', SECTION, GROUP)
    loading.register_auth_conf_options(conf, GROUP)
    section = conf[GROUP].auth_section or GROUP
    return bool(conf[section].auth_type)
