# SPDX-License-Identifier: Apache-2.0
"""Subcommands of ``vobjects db``; :mod:`engine.cli` opens the database."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from vobjects import exceptions
from vobjects.cli import output, settings, terminal
from vobjects.cli.parser import Parser

if TYPE_CHECKING:
    from oslo_config import cfg

    from engine.db import database

#: Unit -> seconds.
_UNITS = {'w': 604800.0, 'd': 86400.0, 'h': 3600.0, 'm': 60.0, 's': 1.0}

#: Name of the state of the database -> message for operators.
_PHASE_MESSAGES = {
    'UP_TO_DATE': 'OK: the database is up to date',
    'EXPAND': 'the database has to be expanded; run "vobjects'
    ' db expand", before or while older engines still run',
    'CONTRACT': 'the database serves this release and the one'
    ' before; run "vobjects db contract" when no older engine is left',
    'TOO_NEW': 'a newer release has contracted the database;'
    ' engines of this release cannot use it',
    'UNKNOWN': 'no release has made the database',
}


class Call(NamedTuple):
    """A call of a subcommand.

    :ivar conf: the configuration
    :ivar options: the parsed arguments
    """

    target: database.Database
    conf: cfg.ConfigOpts
    options: argparse.Namespace


class _Command(NamedTuple):
    """A subcommand.

    :ivar summary: one line for ``--help`` of ``vobjects db``
    :ivar more: further text for the command's own ``--help``
    :ivar creates: whether it creates a missing SQLite database file
    """

    run: Callable[[Call], int]
    summary: str
    more: str
    examples: tuple[str, ...]
    add_arguments: Callable[[Parser], None] = lambda command: None
    creates: bool = False

    def configure(self, command: Parser) -> None:
        """Add the arguments of the subcommand to its parser."""
        command.describe(notes=self.more, examples=self.examples)
        command.set_defaults(command=self.run, creates=self.creates)
        self.add_arguments(command)
        settings.add_options(command)


def parser() -> Parser:
    """Return the parser of ``vobjects db``.

    Each subcommand sets ``command``, a function of a :class:`Call` that
    returns the exit code, and ``creates``.
    """
    commands = Parser(
        prog='vobjects db',
        description='Create and upgrade the database.',
        notes='Exit codes: 0 success; 1 failure; 2 invalid arguments or'
        ' configuration; those of "check" show its result.',
    )
    commands.add_commands(
        {
            name: (definition.summary, definition.configure)
            for name, definition in _COMMANDS.items()
        }
    )
    return commands


def _sync(call: Call) -> int:
    from engine.db import schema_phase

    _expand(call)
    try:
        _run_contraction(call.target, call.conf)
    except schema_phase.OlderEnginesError as error:
        _print(f'the database is not contracted: {error}')
    return 0


def _expand(call: Call) -> int:
    from engine.db import migrations

    before = migrations.current(call.target)
    revisions = len(migrations.missing(call.target))
    with terminal.Progress('expanding the database', revisions) as progress:
        migrations.expand(
            call.target, lambda revision: progress.advance(detail=revision)
        )
    after = migrations.current(call.target)
    outcome = 'is' if before == after else f'went from {before or "none"} to'
    _print(f'the database {outcome} {after}')
    return 0


def _run_contraction(target: database.Database, conf: cfg.ConfigOpts) -> None:
    from engine.db import migrations, schema_phase

    revisions = len(migrations.missing(target, migrations.CONTRACT))
    with terminal.Progress('contracting the database', revisions) as progress:
        schema_phase.contract(
            target,
            conf,
            report=lambda revision: progress.advance(detail=revision),
        )


def _contract(call: Call) -> int:
    from engine.db import migrations, schema_phase

    if schema_phase.phase_of(call.target) is not schema_phase.Phase.CONTRACT:
        # Raises an error if the database is not ready to be contracted; does
        # nothing if it is contracted already.
        schema_phase.contract(call.target, call.conf)
        _print('the database has nothing to contract')
        return 0
    _run_contraction(call.target, call.conf)
    revision = migrations.current(call.target, migrations.CONTRACT)
    _print(f'the database is contracted to {revision}')
    return 0


def _check(call: Call) -> int:
    from engine.db import migrations, schema_phase

    phase = schema_phase.phase_of(call.target)
    message = _PHASE_MESSAGES[phase.name]
    if phase is schema_phase.Phase.UNKNOWN:
        try:
            schema_phase.require_known(call.target)
        except migrations.UnknownRevisionError as error:
            message = str(error)
    older = (
        schema_phase.older_engines(call.target, call.conf)
        if phase is schema_phase.Phase.CONTRACT
        else []
    )
    output.show(
        call.options,
        {
            'phase': phase.name.lower(),
            'revision': migrations.current(call.target),
            'message': message,
            'older_engines': [
                {
                    'id': member.id,
                    'host': member.host,
                    'release': member.release,
                }
                for member in older
            ],
        },
        [
            message,
            *(
                f'older: {member.label} (release {member.release})'
                for member in older
            ),
        ],
    )
    return phase.value


def _add_purge(command: Parser) -> None:
    command.add_argument(
        '--older-than',
        metavar='AGE',
        type=_age,
        required=True,
        help='minimum age: a number with w, d, h, m or s, such as 30d',
    )
    command.add_argument(
        '--project',
        metavar='ID',
        action='append',
        help='delete only rows of this project; may be repeated',
    )
    command.add_argument(
        '--dry-run',
        action='store_true',
        help='print the number of rows, but delete nothing',
    )


def _age(text: str) -> float:
    """Return an age in seconds.

    :raises argparse.ArgumentTypeError: not a number with a unit
    """
    match = re.fullmatch(r'([0-9]{1,9})([wdhms])', text)
    if match is None:
        raise argparse.ArgumentTypeError(
            f'{exceptions.cut(text)} is not an age; write a number with w, d,'
            ' h, m or s, such as 30d'
        )
    return float(match[1]) * _UNITS[match[2]]


def _purge(call: Call) -> int:
    from engine.db import models, purge, schema_phase

    schema_phase.require_expanded(call.target)
    until = purge.cutoff_time(call.target, call.options.older_than)
    kinds: tuple[type[purge.Model], ...] = (models.Action, models.Event)
    counts = [
        purge.count(call.target, kind, until, call.options.project)
        for kind in kinds
    ]
    if call.options.dry_run:
        _print(f'{counts[0]} actions and {counts[1]} events would be deleted')
        return 0
    deleted = []
    with terminal.Progress(
        'deleting actions and events', sum(counts)
    ) as progress:
        for kind in kinds:
            deleted.append(0)
            for number in purge.delete(
                call.target, kind, until, call.options.project
            ):
                progress.advance(number)
                deleted[-1] += number
    _print(f'{deleted[0]} actions and {deleted[1]} events deleted')
    return 0


def _rotate_keys(call: Call) -> int:
    from engine.trusts import receiver_credentials

    rotated = receiver_credentials.rotate_keys(call.conf, call.target)
    _print(f'{rotated} credentials encrypted anew')
    return 0


def _add_import_senlin(command: Parser) -> None:
    command.add_argument(
        '--from',
        dest='source',
        metavar='URL',
        required=True,
        help="URL of Senlin's database, such as"
        ' mysql+pymysql://senlin:PASSWORD@HOST/senlin',
    )
    command.add_argument(
        '--history',
        action='store_true',
        help='also import ended actions and events',
    )
    command.add_argument(
        '--dry-run',
        action='store_true',
        help='check and count everything, but write nothing',
    )


def _import_senlin(call: Call) -> int:
    # Imported here: this loads all profile types and policy types.
    from engine import senlin_import
    from engine.db import schema_phase
    from engine.policies import base as policies
    from engine.profiles import base as profiles

    schema_phase.require_expanded(call.target)
    source = senlin_import.SenlinImport(
        call.options.source,
        call.conf,
        call.target,
        profiles.Registry.load(),
        policies.Registry.load(),
    )
    report = source.report
    try:
        source.check()
        if call.options.dry_run or not report.problems:
            source.run(
                history=call.options.history, dry_run=call.options.dry_run
            )
    finally:
        source.close()
    for kind, (new, existing) in report.counts.items():
        number = (
            f'{new} would be imported' if call.options.dry_run else str(new)
        )
        more = f' ({existing} exist already)' if existing else ''
        _print(f'{kind}: {number}{more}')
    for note in report.notes:
        _print(f'note: {note}')
    for problem in report.problems:
        _print(f'problem: {problem}')
    if report.problems:
        _print('Nothing was imported.')
    return 1 if report.problems else 0


def _print(text: str) -> None:
    print(text)  # noqa: T201 - a command


_COMMANDS = {
    'sync': _Command(
        _sync,
        'expand the database; contract it if no older engine is alive',
        '',
        ('vobjects db sync --config-file /etc/vobjects/vobjects.conf',),
        creates=True,
    ),
    'expand': _Command(
        _expand,
        'add the tables and columns that this release needs',
        """
        Safe while engines of the previous release run: it changes nothing
        that they use. Run it before you start the first process of this
        release.
        """,
        ('vobjects db expand',),
        creates=True,
    ),
    'contract': _Command(
        _contract,
        'remove tables and columns that only older releases use',
        """
        Run it when all engines run this release. The command fails while the
        ledger lists live older engines. An older engine that you start
        afterwards logs the reason and stops. You cannot undo this step.
        """,
        ('vobjects db contract',),
    ),
    'check': _Command(
        _check,
        'show whether the database must be expanded or contracted',
        """
        exit code:
          0  up to date
          3  must be expanded: engines of this release do not start
          4  must be contracted, when no older engine is alive
          5  contracted by a newer release: engines of this release do not
             start
          6  made by no release: engines of this release do not start
          1, 2  the database cannot be reached; invalid configuration
        """,
        ('vobjects db check -o json',),
        output.add_option,
    ),
    'purge': _Command(
        _purge,
        'delete old actions and events',
        """
        The age of an action counts from its end. The command keeps
        unfinished actions, and the actions that they waited for. It deletes
        in short transactions, and you can run it while engines run. To
        delete regularly, set [engine] action_retention and event_retention.
        """,
        (
            'vobjects db purge --older-than 30d --dry-run',
            'vobjects db purge --older-than 12h --project 2f6c8e0b71d9a345',
        ),
        _add_purge,
    ),
    'rotate-keys': _Command(
        _rotate_keys,
        'encrypt the trusts of users with the newest key',
        """
        Put a new key first in [receivers] encryption_keys of every engine,
        before the older keys, and restart the engines one by one. Run this
        command. Then remove the older keys.
        """,
        ('vobjects db rotate-keys',),
    ),
    'import-senlin': _Command(
        _import_senlin,
        'import the database of OpenStack Senlin',
        """
        Imports profiles, clusters, nodes, policies and receivers with their
        IDs, and the trusts of their owners. Stop Senlin first: two services
        must not manage the same servers. You may repeat the command: it
        skips what exists already. It never writes to Senlin's database. The
        exit code is 1 if a problem prevents the import.
        """,
        (
            'vobjects db import-senlin --from mysql+pymysql://u:p@db/senlin'
            ' --dry-run',
        ),
        _add_import_senlin,
    ),
}
