# SPDX-License-Identifier: Apache-2.0
"""Measure the import time of vobjects and the number of modules it loads.

Each import runs in a new interpreter, in turn with that of
``oslo_versionedobjects.base``; the fastest of several runs counts.
"""

from __future__ import annotations

import argparse
import subprocess
import sys

IMPORTS = (
    'pass',
    'import vobjects',
    'import oslo_versionedobjects.base',
    'from vobjects import Request, added, fields, register',
    'import vobjects.microversions.middleware',
    'import vobjects.controllers.dispatch',
)

_MEASURE = """
import sys, time
before = set(sys.modules)
began = time.perf_counter()
{statement}
print(time.perf_counter() - began, len(set(sys.modules) - before),
      'oslo_messaging' in sys.modules)
"""


def main() -> None:
    """Print seconds and modules of each import, and the ratio to o.vo."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--rounds', type=int, default=7)
    rounds = parser.parse_args().rounds
    best: dict[str, tuple[float, int, str]] = {}
    for _round in range(rounds):
        for statement in IMPORTS:
            result = _measure(statement)
            best[statement] = min(result, best.get(statement, result))
    peer = best['import oslo_versionedobjects.base'][0]
    print(f'{"statement":<56} {"ms":>6} {"ratio":>6} {"modules":>8}')
    for statement, (seconds, modules, messaging) in best.items():
        note = '  with oslo.messaging' if messaging == 'True' else ''
        print(
            f'{statement:<56} {seconds * 1e3:6.1f} {seconds / peer:6.3f}'
            f' {modules:8}{note}'
        )


def _measure(statement: str) -> tuple[float, int, str]:
    printed = subprocess.run(
        [
            *(sys.executable, '-W', 'ignore', '-c'),
            _MEASURE.format(statement=statement),
        ],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    seconds, modules, messaging = printed.split()
    return float(seconds), int(modules), messaging


if __name__ == '__main__':
    main()
