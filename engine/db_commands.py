# SPDX-License-Identifier: Apache-2.0
"""Subcommands of ``vobjects db``; :mod:`engine.cli` opens the database."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Callable
from typing import NamedTuple

from oslo_config import cfg

from engine import cli_options
from engine.db import database, migrations, purge, schema_phase
from engine.trusts import receiver_credentials
from vobjects import exceptions

#: Unit -> seconds.
_UNITS = {'w': 604800.0, 'd': 86400.0, 'h': 3600.0, 'm': 60.0, 's': 1.0}

#: State of the database -> message for operators.
_PHASE_MESSAGES = {
    schema_phase.Phase.UP_TO_DATE: 'the database is up to date',
    schema_phase.Phase.EXPAND: 'the database has to be expanded; run "vobjects'
    ' db expand", before or while older engines still run',
    schema_phase.Phase.CONTRACT: 'the database serves this release and the one'
    ' before; run "vobjects db contract" when no older engine is left',
    schema_phase.Phase.TOO_NEW: 'a newer release has contracted the database;'
    ' engines of this release cannot use it',
}


def _add_no_arguments(command: argparse.ArgumentParser) -> None:
    """Add no arguments."""


class _Command(NamedTuple):
    """A subcommand.

    :ivar summary: one line for ``--help`` of ``vobjects db``
    :ivar more: further text for the command's own ``--help``
    :ivar creates: whether it creates a missing SQLite database file
    """

    run: Callable[[database.Database, cfg.ConfigOpts, argparse.Namespace], int]
    summary: str
    more: str = ''
    add_arguments: Callable[[argparse.ArgumentParser], None] = (
        _add_no_arguments
    )
    creates: bool = False


def parser() -> argparse.ArgumentParser:
    """Return the parser; each command sets ``run(target, conf, options)``."""
    commands = argparse.ArgumentParser(
        prog='vobjects db',
        description='Create and upgrade the database.',
    )
    subparsers = commands.add_subparsers(
        title='commands', metavar='COMMAND', required=True
    )
    for name, definition in _COMMANDS.items():
        command = subparsers.add_parser(
            name,
            help=definition.summary,
            description=cli_options.sentence(definition.summary),
            epilog=textwrap.dedent(definition.more).strip(),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        cli_options.add_config_file(command)
        definition.add_arguments(command)
        command.set_defaults(run=definition.run, creates=definition.creates)
    return commands


def _sync(
    target: database.Database,
    conf: cfg.ConfigOpts,
    options: argparse.Namespace,
) -> int:
    _expand(target, conf, options)
    try:
        schema_phase.contract(target, conf)
    except schema_phase.OlderEnginesError as error:
        _print(f'the database is not contracted: {error}')
    return 0


def _expand(
    target: database.Database,
    conf: cfg.ConfigOpts,
    options: argparse.Namespace,
) -> int:
    before = migrations.current(target)
    migrations.expand(target)
    after = migrations.current(target)
    outcome = 'is' if before == after else f'went from {before or "none"} to'
    _print(f'the database {outcome} {after}')
    return 0


def _contract(
    target: database.Database,
    conf: cfg.ConfigOpts,
    options: argparse.Namespace,
) -> int:
    if schema_phase.phase_of(target) is not schema_phase.Phase.CONTRACT:
        # Raises an error if the database is not ready to be contracted; does
        # nothing if it is contracted already.
        schema_phase.contract(target, conf)
        _print('the database has nothing to contract')
        return 0
    schema_phase.contract(target, conf)
    revision = migrations.current(target, migrations.CONTRACT)
    _print(f'the database is contracted to {revision}')
    return 0


def _check(
    target: database.Database,
    conf: cfg.ConfigOpts,
    options: argparse.Namespace,
) -> int:
    phase = schema_phase.phase_of(target)
    _print(_PHASE_MESSAGES[phase])
    if phase is schema_phase.Phase.CONTRACT:
        for member in schema_phase.older_engines(target, conf):
            _print(f'older: {member.label} (release {member.release})')
    return phase.value


def _version(
    target: database.Database,
    conf: cfg.ConfigOpts,
    options: argparse.Namespace,
) -> int:
    revision = migrations.current(target) or 'none'
    _print(f'{revision} (newest: {migrations.head()})')
    return 1 if migrations.is_behind(target) else 0


def _add_purge(command: argparse.ArgumentParser) -> None:
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


def _purge(
    target: database.Database,
    conf: cfg.ConfigOpts,
    options: argparse.Namespace,
) -> int:
    if schema_phase.phase_of(target) is schema_phase.Phase.EXPAND:
        raise schema_phase.NotExpandedError
    until = purge.cutoff_time(target, options.older_than)
    if options.dry_run:
        actions, events = purge.count(target, until, options.project)
        _print(f'{actions} actions and {events} events would be deleted')
        return 0
    actions = sum(purge.delete_actions(target, until, options.project))
    events = sum(purge.delete_events(target, until, options.project))
    _print(f'{actions} actions and {events} events deleted')
    return 0


def _rotate_keys(
    target: database.Database,
    conf: cfg.ConfigOpts,
    options: argparse.Namespace,
) -> int:
    rotated = receiver_credentials.rotate_keys(conf, target)
    _print(f'{rotated} credentials encrypted anew')
    return 0


def _print(text: str) -> None:
    print(text)  # noqa: T201 - a command


_COMMANDS = {
    'sync': _Command(
        _sync,
        'expand the database; contract it if no older engine is alive',
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
          1, 2  the database cannot be reached; invalid configuration
        """,
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
    ),
    'version': _Command(
        _version,
        'print the revision of the database, and the newest revision',
        'The exit code is 1 if the database must be expanded.',
    ),
}
