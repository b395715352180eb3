# SPDX-License-Identifier: Apache-2.0
"""Measure which bugs of a list the tools find: ``python -m recall``."""

from __future__ import annotations

import argparse
import functools
import pathlib
import sys

from recall import bugs, judgments, limits, measurement, report, trees
from tests.adoption import environments


def main() -> int:
    """Measure the bugs that the arguments name; return the exit code."""
    parser = argparse.ArgumentParser(
        prog='python -m recall',
        description='Apply the lock, the matrix, the invariants and the'
        ' comparison of releases to the code before and after known upgrade'
        ' bugs. README.md in this folder explains the list. The first run'
        ' clones the repositories (3 GB) and installs what they import (1 GB'
        ' for each project).',
    )
    add = parser.add_argument
    add('bugs', nargs='*', metavar='BUG', help='identifiers (default: all)')
    add('--list', default=bugs.DEFAULT, help='file with other bugs')
    add('--half', choices=bugs.HALVES, help='measure one half')
    add('--repositories', help='folder with clones OWNER/NAME, instead of git')
    cache = environments.default_cache().with_name('recall')
    add('--cache', default=cache, help='folder of trees (%(default)s)')
    add(
        '--save',
        action='store_true',
        help=f'write the results into {report.TABLE.name}, for the page State'
        ' of versioned objects',
    )
    add('--alarms', action='store_true', help='list the findings for fixes')
    add(
        '--findings',
        type=pathlib.Path,
        metavar='FILE',
        help='write all findings as CSV, with their judgments so far',
    )
    add(
        '--seconds',
        type=float,
        default=3600,
        help='time limit for each bug (%(default).0f)',
    )
    add(
        '--source-only',
        action='store_true',
        help='apply only "vobjects releases", which imports no code',
    )
    options = parser.parse_args()
    try:
        listed = bugs.load(pathlib.Path(options.list))
        judged = judgments.load(judgments.FILE)
        chosen = [
            bug
            for bug in listed
            if options.half in (None, bug.half)
            and (not options.bugs or bug.id in options.bugs)
        ]
    except (bugs.ListError, judgments.JudgmentError) as error:
        parser.error(str(error))
    if not chosen:
        parser.error('the list has no such bug')
    source = trees.Trees(
        pathlib.Path(options.cache).absolute(),
        options.repositories and pathlib.Path(options.repositories),
    )
    outcomes = []
    for bug in chosen:
        sys.stderr.write(f'{bug.id}\n')
        measure = functools.partial(
            measurement.measure, bug, source, not options.source_only
        )
        outcomes.append(limits.run(bug, measure, options.seconds))
    sys.stdout.writelines(
        f'{line}\n'
        for line in (
            *report.lines(outcomes, options.alarms),
            *judgments.lines(outcomes, judged),
        )
    )
    if options.findings:
        judgments.write(options.findings, outcomes, judged)
    if options.save:
        report.write_table(report.TABLE, listed, outcomes)
    return 0


if __name__ == '__main__':
    sys.exit(main())
