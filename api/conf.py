# SPDX-License-Identifier: Apache-2.0
"""Configuration options of the API: ``[api]`` and its libraries' groups.

``VOBJECTS_CONFIG_FILE`` names the files, separated as in ``PATH``. Without it,
oslo.config searches its default places.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
import ipaddress
from collections.abc import Sequence
from typing import Any

from oslo_config import cfg

from vobjects import exceptions, number_options
from vobjects.cli import settings
from vobjects.clustering import history
from vobjects.microversions import json_body, retirement
from vobjects.microversions.version_policy import VersionPolicy

PROJECT = 'vobjects'
GROUP = 'api'
OSLO_MIDDLEWARE = 'oslo_middleware'

#: Environment variable that names the configuration files.
CONFIG_FILES = settings.FILES_VARIABLE

API_OPTS = [
    cfg.HostAddressOpt(
        'host',
        default='127.0.0.1',
        help='Address to listen on. With auth_strategy = none it must be a'
        ' loopback address, unless none_beyond_loopback is set.',
    ),
    cfg.PortOpt('port', default=8777, help='Port to listen on.'),
    cfg.IntOpt(
        'workers', default=1, min=1, max=1024, help='Number of API processes.'
    ),
    cfg.IntOpt(
        'threads',
        default=32,
        min=1,
        max=4096,
        help='Maximum number of requests that an API process handles at the'
        ' same time. A thread mostly waits for an engine. Requests whose body'
        ' has not arrived do not count.',
    ),
    cfg.IntOpt(
        'max_body_size',
        default=json_body.MAX_BYTES,
        min=1024,
        max=1 << 30,
        deprecated_opts=[
            cfg.DeprecatedOpt('max_request_body_size', group=OSLO_MIDDLEWARE)
        ],
        help='Maximum size of a request body, in bytes. A larger body is'
        ' rejected with 413. The deprecated name is the one that Senlin uses.',
    ),
    cfg.FloatOpt(
        'body_timeout',
        default=30.0,
        min=0.1,
        max=3600.0,
        help='Seconds within which a whole request body must arrive;'
        ' otherwise the request is rejected with 408. Only `vobjects api`'
        ' uses this option; other WSGI servers have their own limits.',
    ),
    cfg.FloatOpt(
        'response_timeout',
        default=60.0,
        min=1.0,
        max=3600.0,
        help='Seconds within which a client must read the next 64 KiB of a'
        ' response; otherwise the connection is closed. If more than [fleet]'
        ' response_memory bytes wait for their clients, slower responses are'
        ' cut off. Only `vobjects api` uses this option.',
    ),
    cfg.FloatOpt(
        'header_timeout',
        default=30.0,
        min=0.1,
        max=3600.0,
        help='Seconds within which the head of a request must arrive, and'
        ' after which an idle connection is closed. Only `vobjects api` uses'
        ' this option.',
    ),
    cfg.IntOpt(
        'max_connections',
        default=4096,
        min=1,
        max=65536,
        help='Maximum number of connections that an API process keeps open;'
        ' further connections wait to be accepted. The limit of open files'
        ' (ulimit -n) applies, too. Only `vobjects api` uses this option.',
    ),
    cfg.IntOpt(
        'max_json_size',
        default=131072,
        min=1024,
        max=1 << 30,
        help='Maximum size of one field of a request (spec, metadata, params'
        ' or config) as JSON, in bytes. A request with a larger field is'
        ' rejected with 400.',
    ),
    cfg.IntOpt(
        'max_limit',
        default=1000,
        min=1,
        max=100000,
        help='Maximum number of items in one page of a list, and the number'
        ' if a request sets no limit. If there are more items, "links"'
        ' contains the next page.',
    ),
    cfg.IntOpt(
        'method_missing_status',
        default=404,
        choices=[
            (404, 'as documented for OpenStack services'),
            (400, "as Senlin's server responded"),
            (406, "as Magnum's server responds"),
        ],
        help='HTTP status for a method that exists, but not at the requested'
        ' microversion.',
    ),
    cfg.BoolOpt(
        'strict_versions',
        default=False,
        help='Reject fields, parameters and methods at microversions before'
        ' the one that documents them. Senlin accepts some of them, such as'
        ' force in a deletion before 1.8, and clients that send no'
        ' microversion use them, as openstacksdk does by default; so they are'
        ' accepted by default. `vobjects api history` marks them.',
    ),
    cfg.BoolOpt(
        'strict_requests',
        default=False,
        help='Reject requests that are accepted only because Senlin accepts'
        ' them: JSON with Content-Type: text/plain, a query parameter that is'
        ' repeated (otherwise the last value counts), an empty query'
        ' parameter of a list (otherwise it is ignored), and webhook calls'
        ' whose body is not a JSON object (otherwise it is ignored).',
    ),
    cfg.MultiStrOpt(
        'retire',
        default=[],
        help='Microversion, or range of microversions, that will be retired,'
        ' with dates: "1.0-1.4 deprecated=2026-01-01 sunset=2027-06-30'
        ' successor=1.7 help_url=https://example.org/end". Responses announce'
        ' the dates in the headers Deprecation, Sunset and Link; no request'
        ' is rejected. One date is required; successor and help_url are'
        ' optional. May be repeated.',
    ),
    cfg.URIOpt(
        'history_url',
        default=history.POLICY.history_url,
        schemes=['http', 'https'],
        help='URL of a page that describes the changes of each microversion.'
        ' Discovery and errors about versions link to it, and so do the'
        ' headers of a retiring version without help_url. `vobjects api'
        ' history` writes such a page.',
    ),
    cfg.URIOpt(
        'documentation_url',
        schemes=['http', 'https'],
        help='URL of this documentation, as "make docs" builds it. Errors then'
        ' link to the page about their code, with cause and remedy.',
    ),
    cfg.URIOpt(
        'public_endpoint',
        schemes=['http', 'https'],
        help='Root URL of this API for clients, including any path prefix'
        ' that a proxy removes. Links in discovery and the header Location'
        ' use it. If unset, they use the URL of the request. See also'
        ' [oslo_middleware] enable_proxy_headers_parsing.',
    ),
    cfg.StrOpt(
        'auth_strategy',
        default='none',
        choices=[
            ('none', 'every caller is the default user, with the role admin'),
            (
                'http_basic',
                'by user name and password, from the file in'
                ' [oslo_middleware] http_basic_auth_user_file',
            ),
            (
                'keystone',
                'by a Keystone token; see [keystone_authtoken]',
            ),
        ],
        help='How callers are authenticated.',
    ),
    cfg.BoolOpt(
        'none_beyond_loopback',
        default=False,
        help='With auth_strategy = none: accept requests from other machines,'
        ' too. Every client that reaches the API is then an admin.',
    ),
    cfg.ListOpt(
        'allowed_hosts',
        default=[],
        help='With auth_strategy = none: names that the request header Host'
        ' may contain, besides localhost and loopback addresses, host, and'
        ' the host of public_endpoint. Other names are rejected with 421,'
        ' which keeps web pages from reaching the API by DNS rebinding. With'
        ' none_beyond_loopback, all addresses and the name of the machine are'
        ' allowed, too.',
    ),
    cfg.ListOpt(
        'http_basic_admins',
        default=['admin'],
        help='With auth_strategy = http_basic: users with the role admin. All'
        ' users have the roles member and reader.',
    ),
    cfg.DictOpt(
        'http_basic_projects',
        default={},
        help='With auth_strategy = http_basic: projects by user, as in'
        ' "alice:web,bob:shop". Other users belong to default_project.',
    ),
    cfg.StrOpt(
        'default_user',
        default='admin',
        help='User ID of all callers with auth_strategy = none.',
    ),
    cfg.StrOpt(
        'default_project',
        default='admin',
        help='Project ID of callers with auth_strategy = none, and of users'
        ' with auth_strategy = http_basic who are not in http_basic_projects.',
    ),
    cfg.BoolOpt(
        'log_requests',
        default=True,
        help='Log a line for each request with its method, path, version,'
        ' status and duration.',
    ),
    cfg.BoolOpt(
        'ui',
        default=True,
        help='Serve /ui, a console for the browser that shows and changes'
        " clusters and shows the fleet. It uses the signed-in user's"
        ' permissions.',
    ),
    cfg.StrOpt(
        'trace_url',
        regex=r'https?://\S*\{request_id\}\S*',
        help='URL that finds the trace with the attribute openstack.request_id'
        ' = {request_id}. The console links it from actions and events.',
    ),
    cfg.StrOpt(
        'metrics',
        default='loopback',
        choices=[
            ('loopback', 'clients on this machine, without a proxy'),
            ('admin', 'callers that the policy rule context_is_admin allows'),
            ('all', 'all clients that reach the API'),
            ('none', 'no client; requests are not counted'),
        ],
        help='Clients that may read /metrics, which is in the format of'
        ' Prometheus.',
    ),
    cfg.StrOpt(
        'metrics_directory',
        help='Directory in which the API processes share their counters. When'
        ' the API starts, it deletes the counters of an earlier run. If'
        ' unset, the API uses a temporary directory.',
    ),
    cfg.IntOpt(
        'metrics_agents',
        default=64,
        min=0,
        max=10000,
        help='Maximum number of clients that the metrics of an API process'
        ' list separately. The first name in the header User-Agent identifies'
        ' a client.',
    ),
    cfg.IntOpt(
        'stop_timeout',
        default=35,
        min=1,
        help='Seconds that a stopping API waits for open requests to finish.'
        ' Set it higher than [fleet] call_timeout; otherwise requests that'
        ' wait for an engine are cut off.',
    ),
]

number_options.restrict(API_OPTS)


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options; repeated calls are harmless."""
    # By name: a group object that is registered twice shares its values.
    conf.register_opts(API_OPTS, GROUP)


def load(
    conf: cfg.ConfigOpts, files: Sequence[str] | None = None
) -> cfg.ConfigOpts:
    """Read the configuration and return ``conf``.

    :param files: paths; None for those of the environment variable, or else
        those that oslo.config finds
    :raises oslo_config.cfg.Error: a file is missing or cannot be read
    """
    register(conf)
    if files is None:
        files = settings.files_of_environment()
    conf(
        args=[],
        project=PROJECT,
        version=importlib.metadata.version('vobjects'),
        default_config_files=list(files) or None,
        default_config_dirs=[] if files else None,
    )
    return conf


def list_opts() -> list[tuple[str, list[Any]]]:
    """Return the options for oslo-config-generator."""
    return [(GROUP, list(API_OPTS))]


class InvalidRetirement(exceptions.VobjectsError):
    """A value of ``[api] retire`` is invalid."""


class InsecureConfiguration(exceptions.VobjectsError):
    """The configuration would expose the service without authentication."""


def check(conf: cfg.ConfigOpts) -> None:
    """Reject invalid values, and remote access without authentication.

    :raises InvalidRetirement: names the line
    :raises InsecureConfiguration: names the option
    :raises oslo_config.cfg.Error: a value is invalid; oslo.config checks a
        value only when it is read, which for some options would be too late
    """
    for option in API_OPTS:
        conf.api[option.dest]
    version_policy(conf)
    if (
        conf.api.auth_strategy == 'none'
        and not conf.api.none_beyond_loopback
        and not is_loopback(conf.api.host)
    ):
        raise InsecureConfiguration(
            '[api] auth_strategy = none makes every caller an admin, so [api]'
            ' host must be a loopback address such as 127.0.0.1 or ::1, not'
            f' {conf.api.host}; set [api] none_beyond_loopback = true to allow'
            ' this address'
        )


def version_policy(conf: cfg.ConfigOpts) -> VersionPolicy:
    """Return the version policy of this deployment.

    :raises InvalidRetirement: names the line
    """
    pages = conf.api.documentation_url
    return dataclasses.replace(
        history.POLICY,
        error_url=f'{pages.rstrip("/")}/errors/{{code}}.html' if pages else '',
        accepts_early=not conf.api.strict_versions,
        method_missing_status=conf.api.method_missing_status,
        history_url=conf.api.history_url,
        retired=_retired(conf),
    )


def _retired(conf: cfg.ConfigOpts) -> tuple[retirement.Retirement, ...]:
    retired: list[retirement.Retirement] = []
    for line in conf.api.retire:
        try:
            retired.append(retirement.parse(line))
            dataclasses.replace(history.POLICY, retired=tuple(retired))
        except (exceptions.VobjectsError, ValueError) as error:
            raise InvalidRetirement(
                f'[api] retire = {line}: {error}'
            ) from None
    return tuple(retired)


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach a host or address."""
    if host == 'localhost':
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
