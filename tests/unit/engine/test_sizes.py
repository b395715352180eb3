# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from engine import sizes
from vobjects.clustering import errors

LIMIT = 1000
BOUNDS = sizes.Bounds(1, 10, LIMIT)

EXACT, BY, PERCENT = (
    'EXACT_CAPACITY',
    'CHANGE_IN_CAPACITY',
    'CHANGE_IN_PERCENTAGE',
)


@pytest.mark.parametrize(
    ('kind', 'number', 'current', 'options', 'size'),
    [
        (EXACT, 7, 3, {}, 7),
        (EXACT, 3, 3, {}, 3),
        (BY, 2, 3, {}, 5),
        (BY, -2, 3, {}, 1),
        (PERCENT, 50, 4, {}, 6),
        (PERCENT, -50, 4, {}, 2),
        # Less than one node is one node; more is rounded towards zero.
        (PERCENT, 10, 3, {}, 4),
        (PERCENT, -10, 3, {}, 2),
        (PERCENT, 50, 3, {}, 4),
        (PERCENT, -50, 3, {}, 2),
        (PERCENT, 33.4, 9, {}, 10 + 2),
        (PERCENT, 10, 3, {'min_step': 2}, 5),
        (PERCENT, -10, 4, {'min_step': 2}, 2),
        (PERCENT, 100, 2, {'min_step': 1}, 4),
        (PERCENT, 0, 3, {'min_step': 2}, 3),
        (BY, 1, 3, {'min_step': 5}, 4),
        (PERCENT, 1e308, 3, {'strict': False}, 10),
        (PERCENT, -1e308, 3, {'strict': False}, 1),
        (EXACT, 12, 3, {'strict': False}, 10),
        (BY, -9, 3, {'strict': False}, 1),
        (EXACT, 12, 3, {'max_size': 20}, 12),
        (EXACT, 0, 3, {'min_size': 0}, 0),
        (EXACT, 500, 3, {'max_size': -1}, 500),
        (EXACT, 2, 3, {'min_size': 5, 'strict': False}, 5),
        (None, None, 3, {'min_size': 5, 'strict': False}, 5),
        (None, None, 8, {'max_size': 5, 'strict': False}, 5),
        (None, None, 3, {'max_size': 5}, 3),
    ],
)
def test_resize_results_in_size(
    kind: str | None,
    number: float | None,
    current: int,
    options: dict[str, int],
    size: int,
) -> None:
    bounds = sizes.Bounds(1, 12 if size > 10 else 10, LIMIT)
    change = sizes.Resize(kind, number, **options)
    assert change.apply(current, bounds)[0] == size


def test_resize_changes_the_bounds_it_names() -> None:
    change = sizes.Resize(EXACT, 5, min_size=2)
    changed = change.apply(3, BOUNDS)[1]
    assert (changed.minimum, changed.maximum) == (2, 10)


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        (sizes.Resize(), 'Not enough parameters'),
        (sizes.Resize(number=3), 'Missing adjustment_type'),
        (sizes.Resize(EXACT), 'Missing number'),
        (sizes.Resize(BY, float('nan')), 'Missing number'),
        (sizes.Resize(PERCENT, float('inf')), 'Missing number'),
        (sizes.Resize(EXACT, -1), 'must be non-negative'),
        (sizes.Resize(BY, 1.5), 'must be an integer'),
        (sizes.Resize(EXACT, 11), r"the cluster's max_size \(10\)"),
        (sizes.Resize(EXACT, 0), r"the cluster's min_size \(1\)"),
        (sizes.Resize(BY, -3), r'target capacity \(0\) is less than'),
        (sizes.Resize(EXACT, 3, min_size=4), r'the specified min_size \(4\)'),
        (
            sizes.Resize(min_size=5),
            r'min_size \(5\) is greater .* desired_capac',
        ),
        (
            sizes.Resize(max_size=2),
            r'max_size \(2\) is less .* desired_capacity',
        ),
        (sizes.Resize(max_size=0), r'is less than the current min_size \(1\)'),
        (
            sizes.Resize(min_size=11),
            r'greater than the current max_size \(10\)',
        ),
        (sizes.Resize(min_size=3, max_size=2), 'greater than the specified'),
        (sizes.Resize(PERCENT, 1e308), r'per cluster \(1000\)'),
        (sizes.Resize(max_size=1001), r'per cluster \(1000\)'),
        (sizes.Resize(EXACT, 1001, max_size=-1), r'per cluster \(1000\)'),
        (
            sizes.Resize(BY, 10**9, max_size=-1, strict=False),
            r'per cluster \(1000\)',
        ),
    ],
)
def test_impossible_resize_is_rejected(
    change: sizes.Resize, message: str
) -> None:
    with pytest.raises(errors.BadRequest, match=message):
        change.apply(3, BOUNDS)


def test_crossed_limits_are_rejected_without_a_cluster() -> None:
    with pytest.raises(errors.BadRequest, match=r'than the specified max_si'):
        sizes.Resize(BY, 5, min_size=20, max_size=10).check()
    sizes.Resize(BY, 5, min_size=20, max_size=-1).check()


@pytest.mark.parametrize(
    ('active', 'desired', 'expected'),
    [
        (0, 3, 'ERROR'),
        (1, 3, 'WARNING'),
        (3, 3, 'ACTIVE'),
        (4, 3, 'ACTIVE'),
        (11, 3, 'WARNING'),
    ],
)
def test_status_follows_the_active_nodes(
    active: int, desired: int, expected: str
) -> None:
    status, reason = sizes.cluster_status(
        'CLUSTER_CHECK', active, desired, BOUNDS
    )
    assert status == expected
    assert reason.startswith('CLUSTER_CHECK: number of active nodes')


def test_status_without_maximum_ignores_surplus() -> None:
    bounds = sizes.Bounds(0, -1, LIMIT)
    assert sizes.cluster_status('X', 500, 3, bounds)[0] == 'ACTIVE'


@pytest.mark.parametrize(
    'kind', ['EXACT_CAPACITY', 'CHANGE_IN_CAPACITY', 'CHANGE_IN_PERCENTAGE']
)
def test_message_about_huge_size_is_short(kind: str) -> None:
    change = sizes.Resize(kind, 1e308)
    with pytest.raises(errors.BadRequest) as caught:
        change.apply(3, sizes.Bounds(0, -1, 100))
    assert len(str(caught.value)) < 200
