# SPDX-License-Identifier: Apache-2.0
"""Exhaustive search of the model of calls to the servers of one manifest."""

from __future__ import annotations

import pathlib

import pytest

from tests import requirements
from tests.unit.doc.test_join_barrier import SAFETY, errors

MODEL = pathlib.Path(__file__).parents[3] / 'doc/model/capable_servers.pml'


@pytest.fixture(autouse=True, scope='module')
def _spin() -> None:
    requirements.programs('spin', 'gcc')


@pytest.mark.parametrize(
    ('variant', 'expected'),
    [
        ((), 0),
        (('NO_BARRIER',), 1),
        (('BARRIER=2',), 1),
        (('UP_BEFORE_IT_CONSUMES',), 1),
        (('JOINING_SERVERS_ADDRESSED',), 1),
        (('LAST_BEFORE_THE_REPORT',), 1),
    ],
    ids=str,
)
def test_model_only_weaker_protocols_address_servers_that_have_stopped(
    variant: tuple[str, ...], expected: int, tmp_path: pathlib.Path
) -> None:
    assert errors(tmp_path, SAFETY, *variant, model=MODEL) == expected
