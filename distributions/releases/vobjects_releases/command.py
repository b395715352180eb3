# SPDX-License-Identifier: Apache-2.0
"""Implement ``vobjects releases``: compare the code of two releases."""

from __future__ import annotations

import argparse
import pathlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from vobjects.cli import output
from vobjects.cli.parser import Command, Parser

if TYPE_CHECKING:
    from vobjects_releases.findings import Finding


def _run(options: argparse.Namespace) -> int:
    # Imported here: the help does not need it.
    from vobjects_releases import comparison

    found = comparison.compare(
        comparison.Release(options.old), comparison.Release(options.new)
    )
    data = [
        {
            'rule': item.rule.id,
            'severity': item.severity,
            'subject': item.subject,
            'field': item.field or None,
            'what': item.description,
            'location': item.location,
            'purpose': item.rule.purpose,
        }
        for item in found
    ]
    output.show(options, data, _lines(found))
    return 1 if any(item.severity == 'error' for item in found) else 0


def _lines(found: Sequence[Finding]) -> Iterator[str]:
    for item in found:
        subject = '.'.join(filter(None, (item.subject, item.field)))
        mark = '' if item.severity == 'error' else f' ({item.severity})'
        yield f'{item.location}: {item.rule.id}{mark}'
        yield f'    {subject} {item.description}'
        yield f'    {item.rule.purpose}'
    errors = sum(item.severity == 'error' for item in found)
    counts = [_counted(errors, 'finding')]
    if len(found) > errors:
        counts.append(_counted(len(found) - errors, 'note'))
    yield ', '.join(counts)


def _counted(count: int, noun: str) -> str:
    return f'{count} {noun}{"" if count == 1 else "s"}'


def _parser() -> Parser:
    parser = Parser(
        prog='vobjects releases',
        description='Compare the source code of two releases, and find'
        ' messages and stored rows of one that the other reads wrongly.',
        notes="""
The command is experimental: judge each finding. It reads Python code and runs
none of it: RPC servers and clients of oslo.messaging, types of
oslo.versionedobjects, pydantic models, routes of FastAPI, JSON schemas of
requests, and pickles in databases. It leaves out folders with tests and
documentation. "git worktree add ../shop-2.0 2.0" makes a directory with the
code of the tag 2.0.

A note is a difference that rarely harms a process: a type that no call seems
to carry, a new field in an unchanged version, which a peer ignores, or a field
that a type lost. No call carries a type if no argument has its name, no server
returns it, and no code for RPC or carried type names it.

Exit codes: 0 no findings, or only notes; 1 findings; 2 invalid arguments.
""",
        examples=['vobjects releases ../shop-2.0 .'],
    )
    for name, summary in (
        ('old', 'directory with the code of the older release'),
        ('new', 'directory with the code of the newer release'),
    ):
        parser.add_argument(
            name, type=pathlib.Path, metavar=name.upper(), help=summary
        )
    output.add_option(parser)
    parser.set_defaults(run=_run)
    return parser


#: The command ``vobjects releases``.
main = Command(_parser)
