# SPDX-License-Identifier: Apache-2.0
"""Command line of ``vobjects api``: run the REST API or read its contract.

Without a subcommand, it serves. Each subcommand imports its dependencies when
it runs: printing an OpenAPI document loads no web server.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from vobjects.cli import contract as contract_commands
from vobjects.clustering.run import who_uses

if TYPE_CHECKING:
    from vobjects.contract.registry import Contract

_SERVE = (
    'Run the REST API. After SIGTERM or Ctrl-C, it finishes open requests and'
    ' stops.'
)

_CONFIG_HELP = (
    'Without --config-file, the command reads vobjects.conf in ~/.vobjects,'
    ' ~, /etc/vobjects or /etc. Section [api] contains host, port, workers'
    ' and threads; [DEFAULT] transport_url locates the engines.'
)


def main(argv: Sequence[str]) -> int:
    """Run ``vobjects api [COMMAND]``.

    :param argv: the arguments after ``api``
    :returns: exit code: 0, also after SIGTERM or SIGINT; 1 if workers keep
        dying or the contract is broken
    :raises OSError: cannot listen on the address or write a file
    :raises oslo_config.cfg.Error: the configuration is invalid
    :raises vobjects.exceptions.VobjectsError: the configuration would expose
        the service without authentication; a microversion does not exist
    :raises SystemExit: from argparse
    """
    options = _parser().parse_args(argv)
    code: int = options.run(options)
    return code


def _serve(options: argparse.Namespace) -> int:
    from api import conf, serving, wsgi
    from vobjects.cli import settings
    from vobjects.clustering import topics
    from vobjects.clustering.run import config_check
    from vobjects.lock import installed_locks
    from vobjects.rpc import transport

    if files := _files(options):
        os.environ[conf.CONFIG_FILES] = os.pathsep.join(files)
    release = options.serve_emulate or options.emulate
    if release:
        # Check the name here, so that the user sees the error at once.
        installed_locks.at_release('clustering', release)
        os.environ[wsgi.EMULATE] = release
    loaded = wsgi.configuration()
    config_check.announce(
        loaded, wsgi.LOG.log, {'Message bus': settings.require_bus(loaded)}
    )
    # Report a bad URL once here, not in each worker process.
    transport.open_transport(loaded, topics.EXCHANGE).cleanup()
    return serving.serve(loaded, serving.worker)


def _contract(options: argparse.Namespace) -> Contract:
    """Return the contract of the configured deployment."""
    from oslo_config import cfg

    from api import conf, contract

    loaded = conf.load(cfg.ConfigOpts(), _files(options) or None)
    return contract.contract(conf.version_policy(loaded))


def _files(options: argparse.Namespace) -> list[str]:
    return [*options.config_file, *options.command_config_file]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='vobjects api',
        description=f'{_SERVE} The other commands print its contract or its'
        ' clients.',
        epilog=_CONFIG_HELP,
    )
    parser.set_defaults(run=_serve, command_config_file=[], serve_emulate=None)
    _add_config(parser, '')
    _add_emulate(parser, '')
    commands = parser.add_subparsers(
        title='commands', metavar='COMMAND', dest='command'
    )
    serve = commands.add_parser(
        'serve',
        help='run the REST API; the default',
        description=_SERVE,
        epilog=_CONFIG_HELP,
    )
    # Separate dests: argparse would overwrite options that precede `serve`.
    _add_config(serve, 'command_')
    _add_emulate(serve, 'serve_')
    for command in contract_commands.add(commands, _contract):
        _add_config(command, 'command_')
    who_uses.add(commands)
    return parser


def _add_config(parser: argparse.ArgumentParser, prefix: str) -> None:
    parser.add_argument(
        '--config-file',
        dest=f'{prefix}config_file',
        metavar='FILE',
        action='append',
        default=[],
        help='configuration file; may be repeated, later files win',
    )


def _add_emulate(parser: argparse.ArgumentParser, prefix: str) -> None:
    parser.add_argument(
        '--emulate',
        dest=f'{prefix}emulate',
        metavar='RELEASE',
        help='use only the versions of this release of the schema lock, and'
        ' offer no microversion above its maximum',
    )
