# SPDX-License-Identifier: Apache-2.0
"""Tests that share a deployment run on one worker."""

from __future__ import annotations

import pytest

from tests.functional import deployments
from tests.functional.fixtures import PlatformScheduling


def scope(test: str) -> str:
    return PlatformScheduling._split_scope(
        object.__new__(PlatformScheduling), test
    )


@pytest.mark.parametrize('platform', [p.id for p in deployments.SHARED])
def test_scope_of_the_shared_service_is_its_platform(platform: str) -> None:
    first, other = (f'{file}::test[x-{platform}-1]' for file in ('a', 'b'))
    assert scope(first) == scope(other) == platform


@pytest.mark.parametrize(
    'platform',
    [p.id for p in (*deployments.PLATFORMS, *deployments.OTHER_PLATFORMS)],
)
def test_scope_of_another_deployment_is_its_file_and_platform(
    platform: str,
) -> None:
    assert scope(f'a::test[{platform}]') == f'a[{platform}]'
    assert scope('a::test[x]') == scope('a::test') == 'a'
