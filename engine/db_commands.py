# SPDX-License-Identifier: Apache-2.0
"""What ``vobjects db`` can do; :mod:`engine.cli` finds the database."""

from __future__ import annotations

import argparse
import textwrap

from oslo_config import cfg

from engine.db import database, migrations, phases

#: State -> what an operator reads of it.
_STATES = {
    phases.State.UP_TO_DATE: 'the database is up to date',
    phases.State.EXPAND: 'the database has to be expanded; run "vobjects db'
    ' expand", before or while older engines still run',
    phases.State.CONTRACT: 'the database serves this release and the one'
    ' before; run "vobjects db contract" when no older engine is left',
    phases.State.TOO_NEW: 'a newer release has contracted the database;'
    ' engines of this one cannot use it any more',
}


def parser() -> argparse.ArgumentParser:
    """Return the parser; each command sets ``run(target, conf, options)``."""
    commands = argparse.ArgumentParser(
        prog='vobjects db',
        description='Create and upgrade the database.',
    )
    subparsers = commands.add_subparsers(
        title='commands', metavar='COMMAND', required=True
    )
    for name, (run, summary, more) in _COMMANDS.items():
        command = subparsers.add_parser(
            name,
            help=summary,
            description=f'{summary[0].upper()}{summary[1:]}.',
            epilog=textwrap.dedent(more).strip(),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_argument(
            '--config-file',
            metavar='FILE',
            action='append',
            help='settings; may be repeated, later ones win',
        )
        command.set_defaults(run=run)
    return commands


def _sync(
    target: database.Database,
    conf: cfg.ConfigOpts,
    options: argparse.Namespace,
) -> int:
    _expand(target, conf, options)
    try:
        phases.contract(target, conf)
    except phases.OlderEnginesError as error:
        _say(f'the database is not contracted: {error}')
    return 0


def _expand(
    target: database.Database,
    conf: cfg.ConfigOpts,
    options: argparse.Namespace,
) -> int:
    before = migrations.current(target)
    migrations.expand(target)
    after = migrations.current(target)
    done = 'is' if before == after else f'went from {before or "none"} to'
    _say(f'the database {done} {after}')
    return 0


def _contract(
    target: database.Database,
    conf: cfg.ConfigOpts,
    options: argparse.Namespace,
) -> int:
    if phases.state(target) is not phases.State.CONTRACT:
        # It refuses what comes too early, and leaves alone what is done.
        phases.contract(target, conf)
        _say('the database has nothing to contract')
        return 0
    phases.contract(target, conf)
    found = migrations.current(target, migrations.CONTRACT)
    _say(f'the database is contracted to {found}')
    return 0


def _check(
    target: database.Database,
    conf: cfg.ConfigOpts,
    options: argparse.Namespace,
) -> int:
    found = phases.state(target)
    _say(_STATES[found])
    if found is phases.State.CONTRACT:
        for member in phases.older_engines(target, conf):
            _say(f'older: {member.label} (release {member.release})')
    return found.value


def _version(
    target: database.Database,
    conf: cfg.ConfigOpts,
    options: argparse.Namespace,
) -> int:
    found = migrations.current(target) or 'none'
    _say(f'{found} (newest: {migrations.head()})')
    return 1 if migrations.is_behind(target) else 0


def _say(text: str) -> None:
    print(text)  # noqa: T201 - a command


#: Name -> function, summary, what --help says besides.
_COMMANDS = {
    'sync': (
        _sync,
        'expand the database, and contract it unless older engines live',
        '',
    ),
    'expand': (
        _expand,
        'add what this release needs',
        """
        Safe while engines of the release before run: nothing they use is
        changed. Run it before the first process of this release starts.
        """,
    ),
    'contract': (
        _contract,
        'take away what only older releases used',
        """
        Run it when all engines are of this release. It is refused while the
        ledger has older ones that live; an older engine that is started
        afterwards stops at once and says why. There is no way back.
        """,
    ),
    'check': (
        _check,
        'say what the database needs',
        """
        exit code:
          0  up to date
          3  to be expanded: engines of this release do not start
          4  to be contracted, when no older engine lives
          5  contracted by a newer release: engines of this one do not start
          1, 2  the database cannot be reached; bad configuration
        """,
    ),
    'version': (
        _version,
        "print the database's revision, and the newest",
        'The exit code is 1 if the database has to be expanded.',
    ),
}
