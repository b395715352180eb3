# SPDX-License-Identifier: Apache-2.0
"""The command ``vobjects config``: check configuration files."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Callable, Mapping

from oslo_config import cfg

from engine import cli, cli_options
from engine import conf as engine_conf
from engine.db import database
from vobjects import exceptions
from vobjects.cli import settings
from vobjects.clustering.run import config_check

FINE, IGNORED, REJECTED, OUT_OF_REACH = range(4)

_CODES = """\
exit codes:
  0  no findings
  1  unknown sections or options, which no process reads
  2  a process would reject the configuration, or a file cannot be read
  3  with --connect: a server does not respond
"""


def main(argv: list[str]) -> int:
    """Run ``vobjects config``.

    :param argv: the arguments after ``config``
    :returns: exit code, see ``--help``
    :raises oslo_config.cfg.Error: a file cannot be read or parsed
    :raises vobjects.exceptions.VobjectsError: a server cannot be used as
        configured
    :raises SystemExit: from argparse
    """
    options = _parser().parse_args(argv)
    code: int = options.run(options)
    return code


def _check(options: argparse.Namespace) -> int:
    conf = cfg.ConfigOpts()
    engine_conf.register(conf)
    conf([], project=cli.PROJECT, default_config_files=options.config_file)
    files = settings.files(conf)
    if not files:
        _print(f'no configuration file: looked in {settings.places()}')
        return REJECTED
    findings = config_check.check(files)
    for finding in findings:
        _print(finding.text)
    if any(finding.rejected for finding in findings):
        return REJECTED
    for name in options.connect or ():
        try:
            _SERVERS[name](conf)
        except exceptions.Unreachable as error:
            _print(str(error))
            return OUT_OF_REACH
    if findings:
        return IGNORED
    if not options.quiet:
        _print(f'OK: {", ".join(files)}')
    return FINE


def _database(conf: cfg.ConfigOpts) -> None:
    cli.require_database(conf)
    database.Database(conf, create=False).close()


def _bus(conf: cfg.ConfigOpts) -> None:
    settings.require_bus(conf)
    cli.check_bus(conf)


_SERVERS: Mapping[str, Callable[[cfg.ConfigOpts], None]] = {
    'database': _database,
    'bus': _bus,
}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='vobjects config', description='Check configuration files.'
    )
    commands = parser.add_subparsers(
        title='commands', metavar='COMMAND', required=True
    )
    summary = 'list unknown sections, unknown options and invalid values'
    check = commands.add_parser(
        'check',
        help=summary,
        description=cli_options.sentence(summary),
        epilog=textwrap.dedent(_CODES),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    check.add_argument(
        '--connect',
        action='append',
        choices=sorted(_SERVERS),
        help='also connect to the database or the message bus; may be'
        ' repeated',
    )
    check.add_argument(
        '--quiet', action='store_true', help='print only findings'
    )
    cli_options.add_config_file(check)
    check.set_defaults(run=_check)
    return parser


def _print(text: str) -> None:
    print(text)  # noqa: T201 - a command
