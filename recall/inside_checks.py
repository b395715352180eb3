# SPDX-License-Identifier: Apache-2.0
"""Compare the code of a tree with locks; runs in its environment.

``python -m recall.inside_checks LOCK... -- IMPORT...`` writes a JSON list of
findings of ``vobjects lock check`` and of the invariants, with each lock.
"""

from __future__ import annotations

import datetime
import json
import pathlib
import sys
from collections.abc import Iterator, Sequence

from recall.inside import quiet
from tests.adoption import locked_invariants
from vobjects.lock import check, parse, snapshot
from vobjects.testing import invariants

#: The lock of a release cannot have the versions of a newer tree.
EXPECTED_RULE = 'LOCK_CURRENT'


def main() -> None:
    """Check the locks that the arguments name."""
    separator = sys.argv.index('--')
    paths = [pathlib.Path(name) for name in sys.argv[1:separator]]
    imports = sys.argv[separator + 1 :]
    stdout = sys.stdout
    with quiet():
        snapshot.load(imports)
        findings = [
            finding
            for path in paths
            for finding in all_findings(path, imports)
        ]
    json.dump(findings, stdout)


def all_findings(
    path: pathlib.Path, imports: Sequence[str]
) -> Iterator[dict[str, str]]:
    """Yield the findings of a lock, and an item ``error`` for each failure."""
    for findings in (lock_findings(path, imports), invariant_findings(path)):
        try:
            yield from findings
        except Exception as error:  # noqa: BLE001 - whatever a service raises
            yield {
                'check': 'error',
                'code': type(error).__name__,
                'type': '',
                'field': '',
                'detail': str(error),
                'before': str(path),
            }


def lock_findings(
    path: pathlib.Path, imports: Sequence[str]
) -> Iterator[dict[str, str]]:
    """Yield what ``vobjects lock check`` reports."""
    lock = parse.load(path)
    code = snapshot.snapshot(imports, lock)
    today = datetime.datetime.now(datetime.UTC).date()
    for item in check.check(lock, code, today, path).failing:
        if item.rule.id != EXPECTED_RULE:
            yield {
                'check': 'lock',
                'code': item.rule.id,
                'type': item.type_name,
                'field': item.field,
                'detail': item.description,
                'before': str(path),
            }


def invariant_findings(path: pathlib.Path) -> Iterator[dict[str, str]]:
    """Yield the violations of the invariants of a lock."""
    lock = parse.load(path)
    for case in invariants.cases(lock):
        for item in locked_invariants.violations(case):
            yield {'check': 'invariants', 'before': str(path), **item}
    for item in locked_invariants.golden_violations(lock, path):
        yield {'check': 'invariants', 'before': str(path), **item}


if __name__ == '__main__':
    main()
