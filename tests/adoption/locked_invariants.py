# SPDX-License-Identifier: Apache-2.0
"""``python -m tests.adoption.locked_invariants LOCK``: check the invariants.

The output is a JSON document with the number of cases and all violations.
The pytest fixture ``vobjects_invariants`` checks the same cases, but stops at
the first violation of a case.
"""

from __future__ import annotations

import contextlib
import json
import logging
import pathlib
import sys
import warnings
from collections.abc import Iterator
from typing import Any

from vobjects.lock import golden, lock_names, parse
from vobjects.lock.model import Lock
from vobjects_testing import golden_checks, invariants


def violations(case: invariants.Case) -> Iterator[dict[str, str]]:
    """Yield the violations of a case; each is exempt from then on."""
    exempt: dict[str, str] = {}
    while True:
        case.exempt, case.exercised = dict(exempt), set()
        try:
            case.check()
        except invariants.InvariantViolated as error:
            yield {
                'code': error.invariant,
                'type': error.schema.name,
                'field': error.field,
                'detail': str(error),
            }
            if error.invariant == 'exercised' or error.subject in exempt:
                return
            exempt[error.subject] = 'reported'
        else:
            return


def golden_violations(
    lock: Lock, path: pathlib.Path
) -> Iterator[dict[str, str]]:
    """Yield a violation for each recorded primitive that is read wrongly."""
    for release in lock.releases:
        for primitive in golden.read(path, release):
            try:
                golden_checks.check(primitive, lock.at(release).manifest())
            except Exception as error:  # noqa: BLE001 - any is a finding
                name = next(
                    value
                    for key, value in primitive.items()
                    if key.endswith('.name')
                )
                yield {
                    'code': 'golden',
                    'type': str(name),
                    'field': '',
                    'detail': f'{type(error).__name__}: {error}',
                }


def main() -> None:
    """Check the lock that the first argument names."""
    warnings.simplefilter('ignore')
    logging.disable(logging.CRITICAL)
    path = pathlib.Path(sys.argv[1])
    lock = parse.load(path)
    stdout = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):
        lock_names.load(lock, path)
        cases = list(invariants.cases(lock))
        problems = [item for case in cases for item in violations(case)]
        problems += golden_violations(lock, path)
    document: dict[str, Any] = {'cases': len(cases), 'violations': problems}
    json.dump(document, stdout)


if __name__ == '__main__':
    main()
