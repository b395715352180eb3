# SPDX-License-Identifier: Apache-2.0
"""The commands ``vobjects engine`` and ``vobjects db``."""

from __future__ import annotations

import argparse
import importlib.metadata
import logging
import pathlib
import signal
import threading

from oslo_config import cfg
from oslo_log import log as oslo_log
from oslo_service import systemd

from engine import arguments, db_commands
from engine import conf as engine_conf
from engine.actions import logs
from engine.db import database
from vobjects import exceptions
from vobjects.manifest import Manifest
from vobjects.rpc import conf as rpc_conf

PROJECT = 'vobjects'

#: Seconds after which a signal is noticed at the latest.
SIGNAL_WITHIN = 0.5


def main(argv: list[str]) -> int:
    """Run ``vobjects engine``.

    :param argv: the arguments after ``engine``
    :returns: 0 after SIGTERM or SIGINT
    :raises vobjects.exceptions.VobjectsError: for what the caller can mend
    :raises oslo_config.cfg.Error: a bad configuration
    :raises SystemExit: from argparse
    """
    options = _engine_parser().parse_args(argv)
    conf = configuration(options.config_file)
    if options.metrics_port is not None:
        conf.set_override('metrics_port', options.metrics_port, 'engine')
    # Imported here, so that "vobjects db" needs no message bus.
    from engine import service

    engine = service.Engine(
        conf,
        speaks=_speaks(options),
        release=options.release or options.emulate,
    )
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    engine.start()
    systemd.notify_once()
    # With a timeout: another thread may be the one that a signal interrupts,
    # and Python would run the handler when this one wakes up.
    while not stopping.wait(SIGNAL_WITHIN):
        pass
    engine.stop()
    return 0


def db(argv: list[str]) -> int:
    """Run ``vobjects db COMMAND``.

    :param argv: the arguments after ``db``
    :returns: 0, or what the command's ``--help`` says
    :raises vobjects.exceptions.FleetError: see :mod:`engine.db.phases`
    :raises oslo_config.cfg.Error: a bad configuration
    :raises engine.db.database.UnreachableError: no database answers
    :raises engine.db.database.UnusableError: none can be reached that way
    :raises SystemExit: from argparse
    """
    options = db_commands.parser().parse_args(argv)
    conf = configuration(options.config_file)
    target = database.Database(conf)
    try:
        return int(options.run(target, conf, options))
    finally:
        target.close()


def configuration(files: list[str] | None) -> cfg.ConfigOpts:
    """Return the configuration, with logging set up.

    :param files: None: where oslo.config looks by itself
    :raises oslo_config.cfg.Error: a file is missing or has a bad value
    """
    conf = cfg.ConfigOpts()
    oslo_log.register_options(conf)
    engine_conf.register(conf)
    rpc_conf.register(conf)
    conf(
        args=[],
        project=PROJECT,
        version=importlib.metadata.version(PROJECT),
        default_config_files=files or None,
    )
    conf.set_default('instance_uuid_format', logs.TEXT_FORMAT)
    oslo_log.setup(conf, PROJECT)
    # It says at every look at the database what kind of database it is.
    logging.getLogger('alembic').setLevel(logging.WARNING)
    return conf


def _speaks(options: argparse.Namespace) -> Manifest | None:
    path: pathlib.Path | None = options.manifest
    if path is None and options.emulate is None:
        return None
    from engine import service
    from vobjects.lock import shipped
    from vobjects.rpc import server

    # What may be asked of an older release is decided by the types there
    # are: all of them have to be registered first.
    assert service.TYPES
    if path is None:
        return server.emulated(
            shipped.spoken(shipped.release(options.emulate))
        )
    try:
        return server.emulated(Manifest.load(path))
    except OSError as error:
        raise exceptions.VobjectsError(
            f'--manifest {path}: {error.strerror}'
        ) from None


def _engine_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='vobjects engine',
        description='Run an engine. SIGTERM and Ctrl-C let what is under way'
        ' finish, for [engine] stop_timeout seconds, and stop it; other'
        ' engines take over the rest.',
    )
    older = parser.add_mutually_exclusive_group()
    older.add_argument(
        '--emulate',
        metavar='RELEASE',
        help='speak only what this release of the schema lock spoke',
    )
    older.add_argument(
        '--manifest',
        type=pathlib.Path,
        metavar='FILE',
        help='speak only the versions in this file, as an older release'
        ' would ("vobjects fleet manifest" prints such files)',
    )
    parser.add_argument(
        '--release',
        metavar='NAME',
        help='the release to announce (default: that of this build)',
    )
    parser.add_argument(
        '--metrics-port',
        metavar='PORT',
        type=_port,
        help='in place of [engine] metrics_port; 0: any that is free',
    )
    arguments.add_config_file(parser)
    return parser


def _port(text: str) -> int:
    """Return the number of a port; 0 is any.

    :raises ValueError: it is none
    """
    number = int(text)
    if not 0 <= number <= 65535:
        raise ValueError(text)
    return number
