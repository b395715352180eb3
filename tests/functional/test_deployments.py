# SPDX-License-Identifier: Apache-2.0
"""The pairs of transport and database that no other test has."""

from __future__ import annotations

import pathlib

import pytest

from tests.functional.harness import OTHER_KINDS, Kind, deployed


@pytest.mark.parametrize('kind', OTHER_KINDS)
def test_cluster_lives_its_life_on_any_pair(
    kind: Kind, tmp_path: pathlib.Path
) -> None:
    with deployed(kind, tmp_path) as deployment:
        deployment.start_all(engines=2, workers=2)
        with deployment.rest() as rest:
            profile = rest.create_profile()
            cluster = rest.create_cluster(profile, 3)
            rest.succeeded(rest.act(cluster, 'scale_out', count=2))
            rest.succeeded(rest.act(cluster, 'scale_in', count=4))
            path = f'/v1/clusters/{cluster}'
            assert len(rest.get(path)['nodes']) == 1
            rest.succeeded(rest.delete(path))
            rest.gone(path)
        assert deployment.locks() == []
