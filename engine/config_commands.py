# SPDX-License-Identifier: Apache-2.0
"""The command ``vobjects config``: check configuration files."""

from __future__ import annotations

import argparse
import functools
import importlib.metadata
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from engine import cli
from vobjects import exceptions
from vobjects.cli import output, settings
from vobjects.cli.parser import Command, Parser, one_of
from vobjects.clustering import run

if TYPE_CHECKING:
    from oslo_config import cfg

FINE, IGNORED, REJECTED, OUT_OF_REACH = range(4)

_CODES = """
exit codes:
  0  no findings
  1  unknown sections or options, which no process reads
  2  a process would reject the configuration, or a file cannot be read
  3  with --connect: a server does not respond
"""


def _check(options: argparse.Namespace) -> int:
    from oslo_config import cfg

    from engine import conf as engine_conf
    from vobjects.clustering.run import config_check
    from vobjects.clustering.service import SERVICE
    from vobjects.rpc import conf as rpc_conf

    conf = cfg.ConfigOpts()
    engine_conf.register(conf)
    rpc_conf.register(conf)
    sources = settings.locate(options)
    conf(
        [],
        project=cli.PROJECT,
        default_config_files=list(sources.files),
        default_config_dirs=list(sources.directories),
    )
    files = settings.files(conf)
    if not files:
        raise exceptions.VobjectsError(settings.nothing_found())
    findings = config_check.check(files)
    try:
        rpc_conf.pinned_manifest(conf, SERVICE.name)
    except exceptions.VobjectsError as error:
        findings.append(
            config_check.Finding(str(error), 'upgrade_levels', rejected=True)
        )
    code = IGNORED if findings else FINE
    unreachable = []
    if any(finding.rejected for finding in findings):
        code = REJECTED
    else:
        servers = _servers()
        for name in options.connect or ():
            try:
                servers[name](conf)
            except exceptions.Unreachable as error:
                unreachable.append(str(error))
                code = OUT_OF_REACH
    is_silent = options.quiet or code != FINE
    output.show(
        options,
        {
            'files': files,
            'findings': [
                {
                    'text': finding.text,
                    'section': finding.group,
                    'rejected': finding.rejected,
                }
                for finding in findings
            ],
            'unreachable': unreachable,
        },
        [
            *(finding.text for finding in findings),
            *unreachable,
            *([] if is_silent else [f'OK: {", ".join(files)}']),
        ],
    )
    return code


def _database(conf: cfg.ConfigOpts) -> None:
    from engine.db import database

    cli.require_database(conf)
    database.Database(conf, create=False).close()


def _bus(conf: cfg.ConfigOpts) -> None:
    settings.require_bus(conf)
    cli.check_bus(conf)


def _plugged(
    point: importlib.metadata.EntryPoint, conf: cfg.ConfigOpts
) -> None:
    point.load()(conf)


def _servers() -> Mapping[str, Callable[[cfg.ConfigOpts], None]]:
    """Return the functions that connect to servers, also those of plug-ins."""
    return {
        **{
            point.name: functools.partial(_plugged, point)
            for point in importlib.metadata.entry_points(group=run.SERVERS)
        },
        'database': _database,
        'bus': _bus,
    }


def _parser() -> Parser:
    parser = Parser(
        prog='vobjects config', description='Check configuration files.'
    )
    parser.add_commands(
        {
            'check': (
                'list unknown sections, unknown options and invalid values',
                _configure_check,
            )
        }
    )
    return parser


#: The command ``vobjects config``.
main = Command(_parser)


def _configure_check(parser: Parser) -> None:
    parser.describe(
        notes=_CODES,
        examples=[
            'vobjects config check --config-file vobjects.conf',
            'vobjects config check --connect bus --connect database',
        ],
    )
    servers = sorted(_servers())
    parser.add_argument(
        '--connect',
        metavar='SERVER',
        action='append',
        type=one_of(servers, 'server'),
        choices=servers,
        help='also connect to a server: bus, database or that of a provider,'
        ' such as docker (the daemon of the provider "docker"); may be'
        ' repeated',
    )
    parser.add_argument(
        '--quiet', action='store_true', help='print only findings'
    )
    output.add_option(parser)
    settings.add_options(parser)
    parser.set_defaults(run=_check)
