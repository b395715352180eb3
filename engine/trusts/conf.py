# SPDX-License-Identifier: Apache-2.0
"""Options of ``[receivers]``: the account that acts for users, and keys.

keystoneauth defines the options for authenticating the account.
"""

from __future__ import annotations

from keystoneauth1 import loading
from oslo_config import cfg

from vobjects import number_options

RECEIVERS = cfg.OptGroup(
    'receivers',
    'Trusts, and the account that acts for the users who created them',
)
GROUP = RECEIVERS.name

#: By default, use the account with which the API validates tokens.
SECTION = 'keystone_authtoken'

#: Seconds to wait for a response of Keystone.
TIMEOUT = 30

OPTIONS = [
    cfg.ListOpt(
        'encryption_keys',
        default=[],
        secret=True,
        help='Keys that encrypt the trusts of users in the database. Set the'
        ' same keys for all engines. Each key is 32 random bytes in URL-safe'
        ' base64. The first key encrypts; all keys decrypt. "vobjects db'
        ' rotate-keys" re-encrypts all trusts with the first key.',
    ),
    cfg.ListOpt(
        'trust_roles',
        default=[],
        help='Roles that users delegate with a trust. If empty, users'
        ' delegate all of their roles in the project.',
    ),
    cfg.BoolOpt(
        'allow_redelegation',
        default=True,
        help='Whether the services of the cloud may delegate the trust of a'
        ' user for a project once more. Heat requires it, because it creates a'
        ' trust of its own for each stack. It applies to new trusts.',
    ),
    cfg.FloatOpt(
        'revoke_interval',
        default=60.0,
        min=1.0,
        help='Seconds between searches for unused trusts, which are then'
        ' revoked.',
    ),
]

number_options.restrict(OPTIONS)


def list_opts() -> list[tuple[cfg.OptGroup, list[cfg.Opt]]]:
    """Return keystoneauth's options for oslo.config's generator.

    :mod:`engine.conf` lists the options of this module.
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
    """Register keystoneauth's options on ``conf``.

    You may call it repeatedly.
    """
    conf.register_opts(loading.get_auth_common_conf_options(), group=GROUP)
    loading.register_session_conf_options(conf, GROUP)
    conf.set_default('timeout', TIMEOUT, GROUP)


def has_account(conf: cfg.ConfigOpts) -> bool:
    """Tell whether an account is configured, and register its options.

    :param conf: the configuration, after its files were read
    """
    if not (conf[GROUP].auth_section or conf[GROUP].auth_type):
        conf.set_default('auth_section', SECTION, GROUP)
    loading.register_auth_conf_options(conf, GROUP)
    section = conf[GROUP].auth_section or GROUP
    return bool(conf[section].auth_type)
