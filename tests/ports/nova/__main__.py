# SPDX-License-Identifier: Apache-2.0
"""Run Nova's tests of its API samples; print the number of each outcome."""

from __future__ import annotations

import argparse
import collections
import pathlib
import sys
import tempfile

from tests.ports.nova import samples


def main() -> int:
    """Run the tests; return 1 if one fails."""
    parser = argparse.ArgumentParser(
        prog='tests.ports.nova', description=__doc__
    )
    parser.add_argument(
        'modules', nargs='*', metavar='MODULE', help='such as test_keypairs'
    )
    parser.add_argument(
        '--original', action='store_true', help='do not edit Nova'
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix='samples-') as folder:
        outcomes = samples.run(
            pathlib.Path(folder),
            edited=not options.original,
            modules=options.modules,
        )
    for outcome, count in collections.Counter(outcomes.values()).items():
        sys.stdout.write(f'{outcome}: {count}\n')
    for name, outcome in sorted(outcomes.items()):
        if outcome == 'fail':
            sys.stdout.write(f'{name}\n')
    return int('fail' in outcomes.values())


if __name__ == '__main__':
    sys.exit(main())
