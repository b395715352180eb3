# SPDX-License-Identifier: Apache-2.0
"""Attributes of resources in the tables of two releases."""

from __future__ import annotations

import pytest

from .conftest import Compare

ORDERS = """
NAME = 'orders'
ATTRIBUTES = {
    NAME: {
        'id': {'allow_post': False},
        'size': {'allow_post': True},
    }
}
"""

GIFTS = """
from shop import orders

ATTRIBUTES = {{orders.NAME: {{'gift': {{{}}}}}}}
"""


@pytest.mark.parametrize(
    ('spec', 'found'),
    [
        ("'allow_post': True", True),
        ("'allow_post': True, 'default': None", False),
        ("'allow_post': False", False),
        ("'allow_post': True, **more()", False),
    ],
)
def test_compare_attribute_that_another_module_adds(
    compare: Compare, spec: str, found: bool
) -> None:
    old = {'orders.py': ORDERS}
    new = {**old, 'gifts.py': GIFTS.format(spec)}

    assert compare(old, new) == (
        {('ATTRIBUTE_HAS_DEFAULT', 'orders.gift', '')} if found else set()
    )


def test_compare_attribute_of_a_new_resource_may_be_required(
    compare: Compare,
) -> None:
    assert compare({'other.py': ''}, {'orders.py': ORDERS}) == set()


def test_compare_attribute_that_loses_its_default_is_not_new(
    compare: Compare,
) -> None:
    size = "'size': {'allow_post': True"
    old = {'orders.py': ORDERS.replace(size, f"{size}, 'default': None")}

    assert compare(old, {'orders.py': ORDERS}) == set()
