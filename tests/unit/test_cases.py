# SPDX-License-Identifier: Apache-2.0
"""The option ``--cases``, with which the newest Python runs unit tests."""

from __future__ import annotations

import dataclasses
import pathlib
from unittest import mock

import pytest

from tests.unit import conftest


@dataclasses.dataclass(frozen=True)
class Item:
    """What the hook reads of a test."""

    nodeid: str
    path: pathlib.Path


def item(test: str, case: object, path: str = 'api/test_a.py') -> Item:
    return Item(f'tests/unit/{path}::{test}[{case}]', conftest.HERE / path)


@pytest.mark.parametrize(
    ('limit', 'kept'),
    [
        (None, [0, 1, 2, 3, 4, 5, 6]),
        (1, [0]),
        (2, [0, 6]),
        (3, [0, 3, 6]),
        (9, [0, 1, 2, 3, 4, 5, 6]),
    ],
)
def test_cases_of_each_test_are_from_the_first_to_the_last(
    limit: int | None, kept: list[int]
) -> None:
    cases = [item('test_many', number) for number in range(7)]
    single = item('test_one', 'x')
    values = [item('test_v', n, 'vobjects/objects/test_v.py') for n in (1, 2)]
    every: list[Item] = [*cases, single, *values]
    items = list(every)
    config = mock.Mock()
    config.getoption.return_value = limit

    conftest.pytest_collection_modifyitems(config, items)  # type: ignore[arg-type]

    assert items == [*(cases[number] for number in kept), single, *values]
    if limit is not None:
        ((_, options),) = config.hook.pytest_deselected.call_args_list
        assert options['items'] == [i for i in every if i not in items]
