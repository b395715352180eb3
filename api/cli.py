# SPDX-License-Identifier: Apache-2.0
"""``vobjects api``: run the REST API, and read its contract.

Without a command it serves. What a command needs is imported when it runs:
to print an OpenAPI document takes no web server.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from vobjects.cli import contract as contract_commands
from vobjects.cli import usage

if TYPE_CHECKING:
    from vobjects.contract.registry import Contract

_SERVE = (
    'Run the REST API. SIGTERM and Ctrl-C let requests under way end, and'
    ' stop it.'
)

_PLACES = (
    'Without --config-file, vobjects.conf is looked for in ~/.vobjects, ~,'
    ' /etc/vobjects and /etc. Section [api] has host, port, workers and'
    ' threads; [DEFAULT] transport_url says where the engines are.'
)


def main(argv: Sequence[str]) -> int:
    """Run ``vobjects api [COMMAND]``.

    :param argv: the arguments after ``api``
    :returns: 0, also after SIGTERM or SIGINT; 1 when workers keep dying, or
        the contract is not in order
    :raises OSError: the address cannot be listened on, or a file not written
    :raises oslo_config.cfg.Error: a bad configuration
    :raises vobjects.exceptions.VobjectsError: a configuration that would
        open the service to strangers; a microversion that there is not
    :raises SystemExit: from argparse
    """
    options = _parser().parse_args(argv)
    code: int = options.run(options)
    return code


def _serve(options: argparse.Namespace) -> int:
    from api import conf, serving, wsgi
    from vobjects.lock import shipped

    if files := _files(options):
        os.environ[conf.CONFIG_FILES] = os.pathsep.join(files)
    release = options.serve_emulate or options.emulate
    if release:
        # Looked up now, so that a bad name is told to who typed it.
        shipped.release(release)
        os.environ[wsgi.EMULATE] = release
    return serving.serve(wsgi.configuration(), serving.worker)


def _contract(options: argparse.Namespace) -> Contract:
    """Return the contract as the configured deployment keeps it."""
    from oslo_config import cfg

    from api import conf, contract

    read = conf.load(cfg.ConfigOpts(), _files(options) or None)
    return contract.contract(conf.versions(read))


def _files(options: argparse.Namespace) -> list[str]:
    return [*options.config_file, *options.command_config_file]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='vobjects api',
        description=f'{_SERVE} Or read what it promises: see the commands.',
        epilog=_PLACES,
    )
    parser.set_defaults(run=_serve, command_config_file=[], serve_emulate=None)
    _add_config(parser, '')
    _add_emulate(parser, '')
    commands = parser.add_subparsers(
        title='commands', metavar='COMMAND', dest='command'
    )
    serve = commands.add_parser(
        'serve',
        help='run the REST API, as without a command',
        description=_SERVE,
        epilog=_PLACES,
    )
    # Names of their own: argparse would forget what stood before `serve`.
    _add_config(serve, 'command_')
    _add_emulate(serve, 'serve_')
    for command in contract_commands.add(commands, _contract):
        _add_config(command, 'command_')
    usage.add(commands)
    return parser


def _add_config(parser: argparse.ArgumentParser, prefix: str) -> None:
    parser.add_argument(
        '--config-file',
        dest=f'{prefix}config_file',
        metavar='FILE',
        action='append',
        default=[],
        help='settings; may be repeated, later ones win',
    )


def _add_emulate(parser: argparse.ArgumentParser, prefix: str) -> None:
    parser.add_argument(
        '--emulate',
        dest=f'{prefix}emulate',
        metavar='RELEASE',
        help='speak only what this release of the schema lock spoke, and'
        ' offer no microversion above its own',
    )
