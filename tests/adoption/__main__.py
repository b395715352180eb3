# SPDX-License-Identifier: Apache-2.0
"""``python -m tests.adoption SERVICE``: compare and print.

Exit status 1 when anything differs.
"""

from __future__ import annotations

import logging
import statistics
import sys
import warnings
from typing import Any

from tests.adoption import observations, services, timing
from vobjects.lock import registries, snapshot
from vobjects.objects.adoption import adopt
from vobjects.objects.codec.class_codec import class_codec

OPERATIONS = ('to_primitive', 'from_primitive', 'clone', 'what_changed')

#: Objects of each type.
SEEDS = 4

said = sys.stdout.write


def main() -> int:
    """Compare and print."""
    name = sys.argv[1]
    warnings.simplefilter('ignore')
    logging.disable(logging.CRITICAL)
    registries.load(services.SERVICES[name].imports)
    before = observations.observe(SEEDS)
    prints, took = observations.fingerprints(), timing.times()
    adopted = adopt(
        cls
        for versions in registries.registered().values()
        for cls in versions
    )
    after = observations.observe(SEEDS)
    prints_after, took_after = observations.fingerprints(), timing.times()
    full = sum(class_codec(cls).may_nest() for cls in adopted)
    said(f'{len(adopted)} classes, {full} of them compiled in full\n')
    equal = compare(before, after)
    same = prints == prints_after
    said(f'fingerprints: {"the same" if same else "DIFFERENT"}\n')
    locked = compare_locked(name, prints_after)
    as_recorded = compare_recorded(name, prints, prints_after)
    compare_times(took, took_after)
    return 0 if equal and same and locked and as_recorded else 1


def compare(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Tell whether every outcome is equal, and say where not."""
    wrong = [key for key in before if before[key] != after[key]]
    for key in wrong[:10]:
        for what, value in before[key].items():
            other = after[key][what]
            if other != value:
                said(f'{key}, {what}: {observations.path_to(value, other)}\n')
    pairs = [
        (value, after[key][what])
        for key, seen in before.items()
        for what, value in seen.items()
    ]
    errors = sum(isinstance(one, str) and ': ' in one for one, _ in pairs)
    equal = sum(one == other for one, other in pairs)
    said(
        f'{len(before)} objects, {len(pairs)} outcomes compared ({errors} of'
        f' them errors), {equal} equal\n'
    )
    return not wrong


def compare_locked(name: str, known: dict[str, str]) -> bool:
    """Tell whether a lock has the fingerprints of the original.

    :param known: as oslo.versionedobjects computes them
    """
    lock = snapshot.snapshot([services.SERVICES[name].imports])
    found = {
        schema.name: f'{schema.version}-{schema.fingerprint}'
        for schema in lock.schemas
    }
    equal = sum(known.get(key) == value for key, value in found.items())
    said(f'fingerprints in a lock: {equal} of {len(found)} the same\n')
    return 0 < equal == len(found)


def compare_recorded(
    name: str, before: dict[str, str], after: dict[str, str]
) -> bool:
    """Tell whether adopted types have the fingerprints recorded of them.

    One that differs before adoption too is the service's own affair.
    """
    known = services.recorded(name)
    if known is None:
        said('recorded fingerprints: there are none to be had\n')
        return True
    common = known.keys() & after.keys()
    equal = {key for key in common if known[key] == after[key]}
    own = {key for key in common if known[key] != before[key]}
    said(
        f'recorded fingerprints: {len(equal)} of {len(known)} equal;'
        f' not registered here: {sorted(known.keys() - after.keys())};'
        f' different without adoption too: {sorted(own)}\n'
    )
    return common - equal <= own


def compare_times(
    before: dict[str, dict[str, float]], after: dict[str, dict[str, float]]
) -> None:
    """Say how much faster adopted types are."""
    for what in OPERATIONS:
        ratios = {key: before[key][what] / after[key][what] for key in after}
        least = min(ratios, key=lambda key: ratios[key])
        said(
            f'{what:<15} median {statistics.median(ratios.values()):5.1f}x,'
            f' least {ratios[least]:4.1f}x ({least}), of {len(ratios)}'
            ' types\n'
        )


if __name__ == '__main__':
    sys.exit(main())
