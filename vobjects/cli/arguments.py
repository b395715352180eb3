# SPDX-License-Identifier: Apache-2.0
"""Arguments of several commands: a service, a database, a microversion."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from vobjects import exceptions, service
from vobjects.cli.parser import whole_number
from vobjects.versions import Version

#: Without ``--limit``: number of rows of a column that a command reads, and
#: counts for each version with an index. The latter decides nothing.
READ_ROWS, COUNTED_ROWS = 1_000_000, 100_000


def add_service(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--service``."""
    parser.add_argument(
        '--service',
        metavar='NAME',
        help='name of the service, an entry point of the group'
        f' {service.GROUP} (default: the only one that is installed)',
    )


def add_database(parser: argparse.ArgumentParser) -> None:
    """Add ``--limit`` and ``--database`` to a command that reads objects."""
    parser.add_argument(
        '--limit',
        type=whole_number(1, 1_000_000_000),
        metavar='N',
        help='read at most N rows of a column without an index of versions'
        f' (default: {READ_ROWS}), and count at most N rows of each version'
        f' with one (default: {COUNTED_ROWS})',
    )
    parser.add_argument(
        '--database',
        metavar='URL',
        help='URL of the database (default: [database] connection)',
    )


def service_of(options: argparse.Namespace) -> service.Service:
    """Return the service that the option chooses, with its types loaded.

    :raises vobjects.exceptions.VobjectsError: there is none, or not only one
    """
    declared = service.find(options.service or service.only())
    declared.load_types()
    return declared


def microversion(text: str, known: Iterable[Version]) -> Version:
    """Return a microversion that a service has.

    :param text: the version, as the user wrote it
    :param known: the microversions of the service
    :raises vobjects.exceptions.VobjectsError: not a version, or not one of
        those
    """
    version = Version.parse(text)
    versions = sorted(known)
    if version not in versions:
        raise exceptions.VobjectsError(
            f'there is no microversion {version}; use one of'
            f' {versions[0]} to {versions[-1]}'
        )
    return version
