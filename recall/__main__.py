# SPDX-License-Identifier: Apache-2.0
"""Measure which bugs of a list the tools find: ``python -m recall``."""

from __future__ import annotations

import argparse
import pathlib
import sys

from recall import bugs, measurement, report, trees
from tests.adoption import environments


def main() -> int:
    """Measure the bugs that the arguments name; return the exit code."""
    parser = argparse.ArgumentParser(
        prog='python -m recall',
        description='Apply the lock, the matrix and the invariants to the code'
        ' before and after known upgrade bugs. README.md in this folder'
        ' explains the list. The first run clones the repositories (3 GB) and'
        ' installs what they import (2 GB).',
    )
    parser.add_argument('bugs', nargs='*', metavar='BUG', help='identifiers')
    parser.add_argument(
        '--list',
        type=pathlib.Path,
        default=bugs.DEFAULT,
        metavar='FILE',
        help='another list of bugs',
    )
    parser.add_argument(
        '--half', choices=bugs.HALVES, help='measure one half (default: both)'
    )
    parser.add_argument(
        '--repositories',
        type=pathlib.Path,
        metavar='FOLDER',
        help='folder with clones OWNER/NAME (default: clone from upstream)',
    )
    parser.add_argument(
        '--cache',
        type=pathlib.Path,
        default=environments.default_cache().with_name('recall'),
        metavar='FOLDER',
        help='folder for trees and environments (default: %(default)s)',
    )
    parser.add_argument(
        '--alarms', action='store_true', help='list the false alarms'
    )
    options = parser.parse_args()
    try:
        chosen = [
            bug
            for bug in bugs.load(options.list)
            if options.half in (None, bug.half)
            and (not options.bugs or bug.id in options.bugs)
        ]
    except bugs.ListError as error:
        parser.error(str(error))
    if not chosen:
        parser.error('the list has no such bug')
    source = trees.Trees(options.cache.absolute(), options.repositories)
    outcomes = []
    for bug in chosen:
        sys.stderr.write(f'{bug.id}\n')
        outcomes.append(measurement.measure(bug, source))
    sys.stdout.writelines(
        f'{line}\n' for line in report.lines(outcomes, options.alarms)
    )
    return 0


if __name__ == '__main__':
    sys.exit(main())
