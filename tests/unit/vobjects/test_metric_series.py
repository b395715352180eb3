# SPDX-License-Identifier: Apache-2.0
"""The bound on the series of a metric."""

import prometheus_client
import pytest

from vobjects.metric_series import MAX_LABEL, OTHER, BoundedSeries


def series(registry):
    return {
        (sample.labels['kind'], sample.labels['name']): sample.value
        for family in registry.collect()
        for sample in family.samples
        if sample.name == 'requests_total'
    }


@pytest.mark.parametrize(('kept', 'kind'), [(0, OTHER), (1, 'a')])
def test_series_beyond_the_limit_share_one(kept, kind):
    registry = prometheus_client.CollectorRegistry()
    counter = prometheus_client.Counter(
        'requests', 'Requests.', ('kind', 'name'), registry=registry
    )
    bounded = BoundedSeries(counter, limit=2, kept=kept)

    for name in ('x' * (MAX_LABEL + 1), '1', '2', '3', '4', '1'):
        bounded['a', name].inc()

    assert series(registry) == {
        ('a', '1'): 2,
        ('a', '2'): 1,
        (kind, OTHER): 3,
    }
    assert len(bounded) == 2
