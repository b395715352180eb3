# SPDX-License-Identifier: Apache-2.0
"""``python -m tests.adoption SERVICE``: compare and print.

The exit status is 1 if anything differs.
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

#: Number of objects of each type.
SEEDS = 4

write = sys.stdout.write


def main() -> int:
    """Compare and print."""
    name = sys.argv[1]
    warnings.simplefilter('ignore')
    logging.disable(logging.CRITICAL)
    registries.load(services.SERVICES[name].imports)
    before = observations.observe(SEEDS)
    fingerprints, times = observations.fingerprints(), timing.times()
    adopted = adopt(
        cls
        for versions in registries.registered().values()
        for cls in versions
    )
    after = observations.observe(SEEDS)
    adopted_fingerprints = observations.fingerprints()
    adopted_times = timing.times()
    fully_compiled = sum(class_codec(cls).may_nest() for cls in adopted)
    write(
        f'{len(adopted)} classes, {fully_compiled} of them compiled in full\n'
    )
    equal = compare(before, after)
    same = fingerprints == adopted_fingerprints
    write(f'fingerprints: {"the same" if same else "DIFFERENT"}\n')
    locked = compare_locked(name, adopted_fingerprints)
    as_recorded = compare_recorded(name, fingerprints, adopted_fingerprints)
    compare_times(times, adopted_times)
    return 0 if equal and same and locked and as_recorded else 1


def compare(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Return whether all results are equal; print the differences."""
    different = [key for key in before if before[key] != after[key]]
    for key in different[:10]:
        for operation, value in before[key].items():
            adopted = after[key][operation]
            if adopted != value:
                write(
                    f'{key}, {operation}:'
                    f' {observations.path_to(value, adopted)}\n'
                )
    pairs = [
        (value, after[key][operation])
        for key, results in before.items()
        for operation, value in results.items()
    ]
    errors = sum(
        isinstance(value, str) and ': ' in value for value, _ in pairs
    )
    equal = sum(value == adopted for value, adopted in pairs)
    write(
        f'{len(before)} objects, {len(pairs)} results compared ({errors} of'
        f' them errors), {equal} equal\n'
    )
    return not different


def compare_locked(name: str, known: dict[str, str]) -> bool:
    """Return whether a lock has the fingerprints of the original.

    :param known: as oslo.versionedobjects computes them
    """
    lock = snapshot.snapshot([services.SERVICES[name].imports])
    locked = {
        schema.name: f'{schema.version}-{schema.fingerprint}'
        for schema in lock.schemas
    }
    equal = sum(known.get(key) == value for key, value in locked.items())
    write(f'fingerprints in a lock: {equal} of {len(locked)} the same\n')
    return 0 < equal == len(locked)


def compare_recorded(
    name: str, before: dict[str, str], after: dict[str, str]
) -> bool:
    """Return whether adopted types have the recorded fingerprints.

    Types that differ before adoption, too, are ignored.
    """
    recorded = services.recorded(name)
    if recorded is None:
        write('recorded fingerprints: none\n')
        return True
    common = recorded.keys() & after.keys()
    equal = {key for key in common if recorded[key] == after[key]}
    own = {key for key in common if recorded[key] != before[key]}
    write(
        f'recorded fingerprints: {len(equal)} of {len(recorded)} equal;'
        f' not registered here: {sorted(recorded.keys() - after.keys())};'
        f' different before adoption, too: {sorted(own)}\n'
    )
    return common - equal <= own


def compare_times(
    before: dict[str, dict[str, float]], after: dict[str, dict[str, float]]
) -> None:
    """Print the speed-up of adopted types."""
    for operation in OPERATIONS:
        ratios = {
            key: before[key][operation] / after[key][operation]
            for key in after
        }
        least = min(ratios, key=lambda key: ratios[key])
        write(
            f'{operation:<15} median'
            f' {statistics.median(ratios.values()):5.1f}x,'
            f' least {ratios[least]:4.1f}x ({least}), of {len(ratios)}'
            ' types\n'
        )


if __name__ == '__main__':
    sys.exit(main())
