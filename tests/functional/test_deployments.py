# SPDX-License-Identifier: Apache-2.0
"""Combinations of transport and database that no other test uses."""

from __future__ import annotations

import pathlib

import pytest

from tests.functional.deployments import OTHER_PLATFORMS, Platform, deployed


@pytest.mark.parametrize('platform', OTHER_PLATFORMS)
def test_cluster_lifecycle_on_every_platform(
    platform: Platform, tmp_path: pathlib.Path
) -> None:
    with deployed(platform, tmp_path) as deployment:
        deployment.start_all(engines=2, workers=2)
        with deployment.rest() as rest:
            profile = rest.create_profile()
            cluster = rest.create_cluster(profile, 3)
            rest.run(cluster, 'scale_out', count=2)
            rest.run(cluster, 'scale_in', count=4)
            path = f'/v1/clusters/{cluster}'
            assert len(rest.get(path)['nodes']) == 1
            rest.wait_for_success(rest.delete(path))
            rest.assert_missing(path)
        assert deployment.locks() == []
