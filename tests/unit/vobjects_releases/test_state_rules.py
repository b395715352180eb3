# SPDX-License-Identifier: Apache-2.0
"""Tables of the states of objects."""

from __future__ import annotations

import pytest

from .conftest import Compare

STATES = """
class Base:
    def move(self, state):
        if state not in {read}:
            raise ValueError(state)

class Order(Base):
    OPEN = 'open'
    following = {{
        None: ('new'),
        'new': (OPEN, 'failed'),
        OPEN: ('new', 'closed'),
        {more}
    }}
"""


@pytest.mark.parametrize(
    ('read', 'more', 'missing'),
    [
        ('self.following[self.state]', '', {'closed', 'failed'}),
        ('self.following[self.state]', "'failed': (),", {'closed'}),
        ('self.following[self.state]', "'failed': (), 'closed': None", set()),
        ('self.following.get(self.state, ())', '', set()),
        ("self.following['new']", '', set()),
        ('self.other[self.state]', '', set()),
        ('self.following[self.state]', "'failed': after()", set()),
    ],
)
def test_compare_table_of_states(
    compare: Compare, read: str, more: str, missing: set[str]
) -> None:
    source = {'orders.py': STATES.format(read=read, more=more)}

    assert compare(source, source) == {
        ('STATE_KNOWN', 'Order', name) for name in missing
    }


def test_compare_table_with_one_value_for_each_key_has_no_states(
    compare: Compare,
) -> None:
    source = """
class Order:
    kinds = {'gift': 'gift', 'sale': 'sale', 'loan': 'rent'}

    def kind(self, name):
        return self.kinds[name]
"""

    assert compare({'orders.py': source}, {'orders.py': source}) == set()
