# SPDX-License-Identifier: Apache-2.0
"""The commands ``vobjects engine`` and ``vobjects db``.

Functions import what only they need, because SQLAlchemy, oslo.messaging
and oslo.config would take most of the time of ``--help`` and of completion.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import logging
import pathlib
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine import db_commands
from vobjects import exceptions
from vobjects.cli import collector, completion, settings, special_files
from vobjects.cli.parser import Command, Parser, whole_number

if TYPE_CHECKING:
    from oslo_config import cfg

    from vobjects.objects.manifest import Manifest

LOG = logging.getLogger(__name__)

PROJECT = 'vobjects'


def _run(options: argparse.Namespace) -> int:
    from oslo_service import systemd

    from vobjects.clustering.run import allocator, config_check

    allocator.return_large_blocks()
    sources = settings.locate(options)
    conf = configuration(sources.files, sources.directories)
    if options.metrics_port is not None:
        conf.set_override('metrics_port', options.metrics_port, 'engine')
    servers = {
        'Database': require_database(conf),
        'Message bus': settings.require_bus(conf),
    }
    config_check.announce(conf, LOG.log, servers)
    check_bus(conf)
    # Imported here, so that "vobjects db" does not load the service.
    from engine import service
    from vobjects.rpc import server_process

    engine = service.Engine(
        conf,
        speaks=_speaks(options),
        release=options.release or options.emulate,
    )
    wait = server_process.signals(conf)
    engine.start()
    collector.end_loading()
    systemd.notify_once()
    wait()
    engine.stop()
    return 0


def _run_db(options: argparse.Namespace) -> int:
    from engine.db import database

    sources = settings.locate(options)
    conf = configuration(sources.files, sources.directories)
    announce(conf)
    target = database.Database(conf, create=options.creates)
    try:
        return int(options.command(db_commands.Call(target, conf, options)))
    finally:
        target.close()


def configuration(
    files: Sequence[str], directories: Sequence[str] = ()
) -> cfg.ConfigOpts:
    """Read the configuration and set up logging.

    :param files: paths of the configuration files
    :param directories: directories of further files
    :raises oslo_config.cfg.Error: a file is missing or has an invalid value
    """
    from oslo_config import cfg
    from oslo_log import log as oslo_log

    from engine import conf as engine_conf
    from engine import log_context
    from vobjects.clustering.run import log_setup
    from vobjects.rpc import conf as rpc_conf

    conf = cfg.ConfigOpts()
    oslo_log.register_options(conf)
    engine_conf.register(conf)
    rpc_conf.register(conf)
    conf(
        args=[],
        project=PROJECT,
        version=importlib.metadata.version(PROJECT),
        default_config_files=list(files),
        default_config_dirs=list(directories),
    )
    conf.set_default('instance_uuid_format', log_context.TEXT_FORMAT)
    special_files.check(conf)
    log_setup.set_up(conf, PROJECT)
    # Alembic logs the kind of database on every access.
    logging.getLogger('alembic').setLevel(logging.WARNING)
    return conf


def require_database(conf: cfg.ConfigOpts) -> str:
    """Return ``[database] connection``.

    :param conf: with its files read
    :raises vobjects.cli.settings.NotConfigured: the option is not set
    :raises vobjects.exceptions.VobjectsError: the value refers to an option
        that does not exist
    """
    from oslo_config import cfg

    try:
        url = conf.database.connection
    except (cfg.NoSuchOptError, cfg.TemplateSubstitutionError):
        # The name of the option may be a part of the password.
        raise exceptions.VobjectsError(
            '[database] connection contains "$" before a name that is no'
            ' option; write "$$"'
        ) from None
    if not url:
        raise settings.missing(
            conf,
            '[database] connection',
            'postgresql+psycopg2://USER:PASSWORD@HOST/DATABASE',
        )
    return str(url)


def announce(conf: cfg.ConfigOpts) -> None:
    """Print the configuration files and the database to standard error.

    Standard output is reserved for the result of the command.

    :param conf: with its files read
    :raises vobjects.cli.settings.NotConfigured: no database is configured
    :raises vobjects.clustering.run.config_check.BadValue: see
        :func:`~vobjects.clustering.run.config_check.announce`
    """
    from vobjects.clustering.run import config_check

    config_check.announce(
        conf,
        lambda level, line: print(line, file=sys.stderr),  # noqa: T201
        {'Database': require_database(conf)},
    )


def check_bus(conf: cfg.ConfigOpts) -> None:
    """Connect to the message bus once; oslo.messaging would retry forever.

    :raises vobjects.exceptions.Unreachable: the message bus does not answer
    """
    from vobjects.clustering import topics
    from vobjects.rpc import transport

    bus = transport.open_transport(conf, topics.EXCHANGE)
    try:
        transport.check_connection(conf, bus, topics.ENGINE)
    finally:
        bus.cleanup()


def _speaks(options: argparse.Namespace) -> Manifest | None:
    path: pathlib.Path | None = options.manifest
    if path is None and options.emulate is None:
        return None
    from engine import service
    from vobjects.lock import installed_locks
    from vobjects.objects.manifest import Manifest
    from vobjects.rpc import server

    # The emulation depends on the registered types, so all of them must be
    # registered first.
    assert service.TYPES
    if path is None:
        return server.emulated_manifest(
            installed_locks.declared_manifest(
                installed_locks.at_release('clustering', options.emulate)
            )
        )
    try:
        return server.emulated_manifest(Manifest.load(path))
    except OSError as error:
        raise exceptions.VobjectsError(
            f'--manifest {path}: {error.strerror}'
        ) from None


def _releases() -> Sequence[str]:
    from vobjects.lock import installed_locks

    return installed_locks.of_service('clustering').releases


def _parser() -> Parser:
    parser = Parser(
        prog='vobjects engine',
        description='Run an engine. After SIGTERM or Ctrl-C, it waits up to'
        ' [engine] stop_timeout seconds for running actions to finish, and'
        ' stops. Other engines take over unfinished actions.',
        notes='Exit codes: 0 after SIGTERM or Ctrl-C; 1 if a server does not'
        ' respond or the database is not migrated; 2 invalid arguments or'
        ' configuration.',
        examples=[
            'vobjects engine --config-file /etc/vobjects/vobjects.conf',
            'vobjects engine --emulate 0.1.0  # in a test of a mixed fleet',
        ],
    )
    parser.set_defaults(run=_run)
    older = parser.add_mutually_exclusive_group()
    completion.offer(
        older.add_argument(
            '--emulate',
            metavar='RELEASE',
            help='use only the versions of this release of the schema lock',
        ),
        _releases,
    )
    older.add_argument(
        '--manifest',
        type=pathlib.Path,
        metavar='FILE',
        help='use only the versions in this file, as an older release would'
        ' ("vobjects fleet manifest" prints such files)',
    )
    parser.add_argument(
        '--release',
        metavar='NAME',
        help='release to announce (default: that of this build)',
    )
    parser.add_argument(
        '--metrics-port',
        metavar='PORT',
        type=whole_number(0, 65535),
        help='port of the metrics, instead of [engine] metrics_port; 0 picks'
        ' a free port',
    )
    settings.add_options(parser)
    return parser


def _db_parser() -> Parser:
    parser = db_commands.parser()
    parser.set_defaults(run=_run_db)
    return parser


#: The commands ``vobjects engine`` and ``vobjects db``.
main = Command(_parser)
db = Command(_db_parser)
