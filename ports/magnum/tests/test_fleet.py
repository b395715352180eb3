# SPDX-License-Identifier: Apache-2.0
"""Objects of other releases, and processes outside of a fleet."""

import pytest
from magnum import objects
from magnum.common import fleet

from vobjects import exceptions


def test_node_group_of_the_previous_release_has_no_labels():
    primitive = objects.NodeGroup(name='a').obj_to_primitive()
    primitive['magnum_object.version'] = '1.1'
    primitive['magnum_object.changes'] = []

    group = objects.NodeGroup.obj_from_primitive(primitive)

    assert group['node_labels'] is None
    assert group['node_taints'] is None
    assert group.obj_what_changed() == set()


def test_process_outside_of_a_fleet_serves_its_newest_version():
    assert str(fleet.maximum().version) == fleet.MAXIMUM
    with pytest.raises(exceptions.NoLivePeer):
        fleet.cap()
