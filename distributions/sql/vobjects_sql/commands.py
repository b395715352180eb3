# SPDX-License-Identifier: Apache-2.0
"""Implement the commands that read stored objects.

``vobjects stored`` counts them by version. ``vobjects fleet can-roll-back``
tells which of them an older release cannot read.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import functools
import importlib
import pathlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from vobjects import exceptions
from vobjects.cli import arguments, output, settings, terminal
from vobjects.cli.parser import Command, Parser, configured
from vobjects.service import Service
from vobjects_sql import sqlite_files

if TYPE_CHECKING:
    import sqlalchemy
    from oslo_config import cfg

    from vobjects_sql.stored.scan import Census


def censuses(
    options: argparse.Namespace, conf: cfg.ConfigOpts, service: Service
) -> list[Census]:
    """Count the rows of each column of a service, and show the progress.

    :param options: the parsed arguments, with those of
        :func:`vobjects.cli.arguments.add_database`
    :param conf: configuration with its files read
    :raises vobjects.exceptions.VobjectsError: the service declares no columns,
        or the database is not configured or cannot be used
    """
    from vobjects_sql.stored import scan

    if not service.stored:
        raise exceptions.VobjectsError(
            f'the service {service.name} declares no stored objects; name the'
            ' module with STORED in its vobjects.Service as stored='
        )
    columns = importlib.import_module(service.stored).STORED
    given = options.limit
    with (
        _connection(_url(options, conf)) as connection,
        terminal.Progress('reading rows') as progress,
    ):
        return [
            scan.scan(
                connection,
                column,
                limit=given or arguments.READ_ROWS,
                count_limit=given or arguments.COUNTED_ROWS,
                progress=functools.partial(
                    progress.advance, detail=column.label
                ),
            )
            for column in columns
        ]


def can_roll_back(options: argparse.Namespace) -> int:
    """Print whether a release can read what is stored.

    :param options: the parsed arguments of ``vobjects fleet can-roll-back``
    :returns: the exit code: 0 if it can, 1 if it cannot or rows were not read
    :raises vobjects.exceptions.VobjectsError: see :func:`censuses`; or the
        lock has no such release
    """
    # Imported here: the help of a command needs none of them.
    from oslo_config import cfg

    from vobjects.cli import fleet_commands
    from vobjects.lock import installed_locks
    from vobjects_sql.stored import verdict

    service = arguments.service_of(options)
    release = options.release
    supported = installed_locks.at_release(service.name, release).manifest()
    conf = settings.read(cfg.ConfigOpts(), options)
    answer = verdict.decide(
        release,
        supported,
        censuses(options, conf, service),
        fleet_commands.live_cap(conf, service),
    )
    output.show(options, answer.to_json(), answer.lines())
    return 0 if answer.can_roll_back else 1


def _url(options: argparse.Namespace, conf: cfg.ConfigOpts) -> sqlalchemy.URL:
    import sqlalchemy
    from oslo_config import cfg

    conf.register_opt(cfg.StrOpt('connection'), 'database')
    text = options.database or conf.database.connection
    if not text:
        raise settings.missing(
            conf, '[database] connection', 'postgresql+psycopg2://...'
        )
    try:
        url = sqlalchemy.make_url(text)
    except sqlalchemy.exc.ArgumentError:
        raise exceptions.VobjectsError(
            'the database URL is malformed; write'
            ' DIALECT+DRIVER://USER:PASSWORD@HOST/NAME'
        ) from None
    # SQLite would make the file.
    if (
        url.get_backend_name() == 'sqlite'
        and not pathlib.Path(url.database or '').is_file()
    ):
        raise exceptions.VobjectsError(
            f'the database {exceptions.cut(url.database)} does not exist'
        )
    return url


@contextlib.contextmanager
def _connection(url: sqlalchemy.URL) -> Iterator[sqlalchemy.Connection]:
    import sqlalchemy

    try:
        engine = sqlalchemy.create_engine(url, poolclass=sqlalchemy.NullPool)
        sqlite_files.distrust_schema(engine)
        with engine.connect() as connection:
            yield connection
    except (sqlalchemy.exc.SQLAlchemyError, ImportError) as error:
        reason = str(getattr(error, 'orig', None) or error).partition('\n')[0]
        raise exceptions.VobjectsError(
            f'the database {url!r} cannot be read: {reason}'
        ) from None


def _scan(options: argparse.Namespace) -> int:
    from oslo_config import cfg

    service = arguments.service_of(options)
    conf = settings.read(cfg.ConfigOpts(), options)
    found = censuses(options, conf, service)
    output.show(options, _data(found), _lines(found))
    return 0


def _data(found: Iterable[Census]) -> list[dict[str, Any]]:
    return [
        {
            'column': census.column.label,
            'counts': [dataclasses.asdict(count) for count in census.counts],
            'not_read': census.not_read,
        }
        for census in found
    ]


def _lines(found: Iterable[Census]) -> Iterator[str]:
    yield from output.table(
        ('COLUMN', 'VERSIONS', 'ROWS'),
        [
            (
                census.column.label,
                count.versions,
                f'{"more than " if count.is_cut else ""}{count.rows}',
            )
            for census in found
            for count in census.counts
        ],
        right=['ROWS'],
    )
    for census in found:
        if census.not_read:
            yield f'not read: {census.not_read}; raise --limit'


_COMMANDS = {
    'scan': (
        'count the rows of each type and version',
        configured(
            _scan,
            arguments.add_database,
            output.add_option,
            arguments.add_service,
            settings.add_options,
            more='Objects are not loaded. With an index of versions, the time'
            ' does not depend on the number of rows, except to count them.',
            examples=['vobjects stored scan -o json'],
        ),
    ),
}


def _parser() -> Parser:
    parser = Parser(
        prog='vobjects stored',
        description='Count the versioned objects in the database by version.',
        notes='Exit codes: 0 success; 2 invalid arguments or configuration,'
        ' or a database that cannot be read.',
    )
    parser.add_commands(_COMMANDS)
    return parser


#: The command ``vobjects stored``.
main = Command(_parser)
