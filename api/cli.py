# SPDX-License-Identifier: Apache-2.0
"""``vobjects api``: run the REST API, and read its contract.

Without a command it serves. What a command needs is imported when it runs:
to print an OpenAPI document takes no web server.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

from vobjects.cli import contract as contract_commands
from vobjects.cli import usage
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
    from api import serving, wsgi
    from vobjects.lock import shipped

    files = [*(options.config_file or ()), *options.serve_config_file]
    if files:
        os.environ[wsgi.CONFIG_FILES] = os.pathsep.join(files)
    release = options.serve_emulate or options.emulate
    if release:
        # Looked up now, so that a bad name is told to who typed it.
        shipped.release(release)
        os.environ[wsgi.EMULATE] = release
    return serving.serve(wsgi.configuration(), serving.worker)


def _contract() -> Contract:
    from api import contract

    return contract.contract()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='vobjects api',
        description=f'{_SERVE} Or read what it promises: see the commands.',
        epilog=_PLACES,
    )
    parser.set_defaults(run=_serve, serve_config_file=[], serve_emulate=None)
    _add_serving(parser, '')
    commands = parser.add_subparsers(
        title='commands', metavar='COMMAND', dest='command'
    )
    serve = commands.add_parser(
        'serve',
        help='run the REST API, as without a command',
        description=_SERVE,
        epilog=_PLACES,
    )
    # A name of its own: argparse would forget what stood before `serve`.
    _add_serving(serve, 'serve_')
    contract_commands.add(commands, _contract)
    usage.add(commands)
    return parser


def _add_serving(parser: argparse.ArgumentParser, prefix: str) -> None:
    parser.add_argument(
        '--config-file',
        dest=f'{prefix}config_file',
        metavar='FILE',
        action='append',
        default=[],
        help='settings; may be repeated, later ones win',
    )
    parser.add_argument(
        '--emulate',
        dest=f'{prefix}emulate',
        metavar='RELEASE',
        help='speak only what this release of the schema lock spoke, and'
        ' offer no microversion above its own',
    )
