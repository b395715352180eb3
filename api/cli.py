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

from vobjects.cli import completion, settings
from vobjects.cli.parser import Command, Parser
from vobjects.clustering.run import who_uses
from vobjects_contract import command as contract_commands

if TYPE_CHECKING:
    from vobjects_contract.registry import Contract

_SERVE = (
    'Run the REST API. After SIGTERM or Ctrl-C, it finishes open requests and'
    ' stops.'
)

_NOTES = (
    'Section [api] of the configuration has host, port, workers and threads;'
    ' [DEFAULT] transport_url locates the engines.\n\n'
    'Exit codes: 0 after SIGTERM or Ctrl-C; 1 if workers keep dying; 2 invalid'
    ' arguments or configuration.'
)


def _serve(options: argparse.Namespace) -> int:
    from api import conf, serving, wsgi
    from vobjects.clustering import topics
    from vobjects.clustering.run import config_check
    from vobjects.lock import installed_locks
    from vobjects.rpc import transport

    files = settings.locate(options).all_files()
    # For this process and the worker processes.
    os.environ[conf.CONFIG_FILES] = os.pathsep.join(files)
    release = options.emulate
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
    from oslo_config import cfg

    from api import conf, contract

    files = settings.locate(options).all_files()
    loaded = conf.load(cfg.ConfigOpts(), files)
    return contract.contract(conf.version_policy(loaded))


def _releases() -> Sequence[str]:
    from vobjects.lock import installed_locks

    return installed_locks.of_service('clustering').releases


def _parser() -> Parser:
    parser = Parser(
        prog='vobjects api',
        usage='%(prog)s [-h] [OPTION ...] [COMMAND ...]',
        description=f'{_SERVE} The other commands print its contract or its'
        ' clients.',
        notes=_NOTES,
        examples=['vobjects api', 'vobjects api diff 1.6 1.7'],
    )
    parser.set_defaults(run=_serve)
    _add_serve(parser)
    parser.add_commands(
        {
            **contract_commands.definitions(
                _contract, settings.add_options, parser.prog
            ),
            'who-uses': who_uses.DEFINITION,
        },
        required=False,
    )
    return parser


#: The command ``vobjects api``.
main = Command(_parser)


def _add_serve(parser: Parser) -> None:
    completion.offer(
        parser.add_argument(
            '--emulate',
            metavar='RELEASE',
            help='use only the versions of this release of the schema lock,'
            ' and offer no microversion above its maximum',
        ),
        _releases,
    )
    settings.add_options(parser)
