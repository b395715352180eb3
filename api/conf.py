# SPDX-License-Identifier: Apache-2.0
"""The API's options: ``[api]``, and those of the libraries it stands on.

They come from the files that ``VOBJECTS_CONFIG_FILE`` names (several are
joined as in ``PATH``), or from where oslo.config looks by itself.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
import ipaddress
import os
from collections.abc import Sequence
from typing import Any

from oslo_config import cfg
from oslo_policy import opts as policy_opts

from vobjects import exceptions
from vobjects.clustering import history
from vobjects.microversions import body, retirement
from vobjects.microversions.policy import Policy

PROJECT = 'vobjects'
GROUP = 'api'
OSLO_MIDDLEWARE = 'oslo_middleware'

#: Variable of the environment: the files of the configuration.
CONFIG_FILES = 'VOBJECTS_CONFIG_FILE'

API_OPTS = [
    cfg.HostAddressOpt(
        'host',
        default='127.0.0.1',
        help='Address to listen on. With auth_strategy = none it must be a'
        ' loopback address, unless none_beyond_loopback is set.',
    ),
    cfg.PortOpt('port', default=8777, help='Port to listen on.'),
    cfg.IntOpt('workers', default=1, min=1, max=1024, help='API processes.'),
    cfg.IntOpt(
        'threads',
        default=32,
        min=1,
        max=4096,
        help='Requests that one API process serves at the same time. A'
        ' thread mostly waits, for an engine or for a slow client.',
    ),
    cfg.IntOpt(
        'max_body_size',
        default=body.MAX_BYTES,
        min=1024,
        max=1 << 30,
        deprecated_opts=[
            cfg.DeprecatedOpt('max_request_body_size', group=OSLO_MIDDLEWARE)
        ],
        help='Bytes of a request body that are read; a longer one is refused'
        ' with 413. Senlin has it under the deprecated name.',
    ),
    cfg.IntOpt(
        'method_not_found_status',
        default=404,
        choices=[
            (404, 'as the documents of OpenStack services say'),
            (400, "what Senlin's server really answered"),
            (406, "what Magnum's server answers"),
        ],
        help='HTTP status for a method that the requested microversion does'
        ' not have, though another one does.',
    ),
    cfg.MultiStrOpt(
        'retire',
        default=[],
        help='A microversion, or a range of them, that is on its way out, and'
        ' when: "1.0-1.4 deprecated=2026-01-01 sunset=2027-06-30'
        ' successor=1.7 help_url=https://example.org/end". Its responses say'
        ' so in the headers Deprecation, Sunset and Link; nothing is refused.'
        ' One date is enough, successor and help_url may be left out. May be'
        ' given several times.',
    ),
    cfg.URIOpt(
        'history_url',
        default=history.POLICY.history_url,
        schemes=['http', 'https'],
        help='A page that says what each microversion brought. Discovery and'
        ' the errors that are about versions link to it, and so do the'
        ' headers of a version that retires, unless it has a help_url.'
        ' `vobjects api history` writes such a page.',
    ),
    cfg.URIOpt(
        'public_endpoint',
        schemes=['http', 'https'],
        help='What clients call the root of this API, with any prefix that a'
        ' proxy takes away; for links in discovery and in Location. Not set:'
        ' what the request says. See also [oslo_middleware]'
        ' enable_proxy_headers_parsing.',
    ),
    cfg.StrOpt(
        'auth_strategy',
        default='none',
        choices=[
            ('none', 'everybody is the default user, and an admin'),
            (
                'http_basic',
                'by name and password, which [oslo_middleware]'
                ' http_basic_auth_user_file has',
            ),
            (
                'keystone',
                'by a token of Keystone, see [keystone_authtoken]',
            ),
        ],
        help='How callers are authenticated.',
    ),
    cfg.BoolOpt(
        'none_beyond_loopback',
        default=False,
        help='With auth_strategy = none: serve other machines, too. Whoever'
        ' reaches the API is then an admin.',
    ),
    cfg.ListOpt(
        'http_basic_admins',
        default=['admin'],
        help='With auth_strategy = http_basic: the users who have the role'
        ' admin. All users have the roles member and reader.',
    ),
    cfg.DictOpt(
        'http_basic_projects',
        default={},
        help='With auth_strategy = http_basic: the project that a user works'
        ' in, as in "alice:web,bob:shop". Others work in default_project.',
    ),
    cfg.StrOpt(
        'default_user',
        default='admin',
        help='Id of the user that everybody is with auth_strategy = none.',
    ),
    cfg.StrOpt(
        'default_project',
        default='admin',
        help='Id of the project that everybody works in with auth_strategy ='
        ' none or http_basic.',
    ),
    cfg.BoolOpt(
        'log_requests',
        default=True,
        help='Log a line for each request: method, path, version, status,'
        ' duration.',
    ),
    cfg.BoolOpt(
        'ui',
        default=True,
        help='Serve /ui, a page that shows clusters, actions and the fleet,'
        ' and changes nothing. It asks the API with the rights of whoever'
        ' looks.',
    ),
    cfg.StrOpt(
        'metrics',
        default='loopback',
        choices=[
            ('loopback', 'requests from this machine, not through a proxy'),
            ('admin', 'whom the policy rule context_is_admin allows'),
            ('all', 'everybody who reaches the API'),
            ('none', 'nobody; nothing is counted'),
        ],
        help='Who may read /metrics, in the format of Prometheus.',
    ),
    cfg.StrOpt(
        'metrics_directory',
        help='Where the API processes count together; emptied at the start.'
        ' Not set: a temporary directory.',
    ),
    cfg.IntOpt(
        'metrics_agents',
        default=64,
        min=0,
        max=10000,
        help='Clients, by the first name in User-Agent, that each API process'
        ' tells apart in its metrics.',
    ),
    cfg.IntOpt(
        'stop_timeout',
        default=35,
        min=1,
        help='Seconds that a stopping API lets its requests end; more than'
        ' [fleet] call_timeout, or calls under way are cut off.',
    ),
]


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options; harmless when done twice."""
    # By name: a group object that is registered twice shares its values.
    conf.register_opts(API_OPTS, GROUP)


def load(
    conf: cfg.ConfigOpts, files: Sequence[str] | None = None
) -> cfg.ConfigOpts:
    """Read the configuration; return what was given.

    :param files: None: those of the environment
    :raises oslo_config.cfg.Error: a file is missing or cannot be read
    """
    register(conf)
    if files is None:
        named = os.environ.get(CONFIG_FILES, '')
        files = [name for name in named.split(os.pathsep) if name]
    conf(
        args=[],
        project=PROJECT,
        version=importlib.metadata.version('vobjects'),
        default_config_files=list(files) or None,
    )
    return conf


def list_opts() -> list[tuple[str, list[Any]]]:
    """Return the options for oslo-config-generator."""
    return [
        (GROUP, list(API_OPTS)),
        *((str(group), list(opts)) for group, opts in policy_opts.list_opts()),
    ]


class BadRetirement(exceptions.VobjectsError):
    """``[api] retire`` says what cannot be."""


class RefusedToServe(exceptions.VobjectsError):
    """The configuration would open the service to strangers."""


def check(conf: cfg.ConfigOpts) -> None:
    """Refuse bad values, and to listen to others while all are admins.

    :raises BadRetirement: naming the line
    :raises RefusedToServe: naming the option
    :raises oslo_config.cfg.Error: a value that is none; oslo.config looks
        at a value when it is read, which for some would be too late
    """
    for option in API_OPTS:
        conf.api[option.dest]
    versions(conf)
    if (
        conf.api.auth_strategy == 'none'
        and not conf.api.none_beyond_loopback
        and not is_loopback(conf.api.host)
    ):
        raise RefusedToServe(
            f'[api] auth_strategy = none makes everybody an admin, so [api]'
            f' host must be a loopback address such as 127.0.0.1 or ::1, not'
            f' {conf.api.host}; [api] none_beyond_loopback = true allows it'
        )


def versions(conf: cfg.ConfigOpts) -> Policy:
    """Return what this deployment promises about its versions.

    :raises BadRetirement: naming the line
    """
    return dataclasses.replace(
        history.POLICY,
        method_missing_status=conf.api.method_not_found_status,
        history_url=conf.api.history_url,
        retired=_retired(conf),
    )


def _retired(conf: cfg.ConfigOpts) -> tuple[retirement.Retirement, ...]:
    found: list[retirement.Retirement] = []
    for line in conf.api.retire:
        try:
            found.append(retirement.parse(line))
            dataclasses.replace(history.POLICY, retired=tuple(found))
        except (exceptions.VobjectsError, ValueError) as error:
            raise BadRetirement(f'[api] retire = {line}: {error}') from None
    return tuple(found)


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach an address."""
    if host == 'localhost':
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
