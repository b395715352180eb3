# SPDX-License-Identifier: Apache-2.0
"""Objects of other releases, and processes outside of a fleet."""

import importlib.util
import pathlib

import pytest
import sqlalchemy
from alembic.migration import MigrationContext
from alembic.operations import Operations
from magnum import objects
from magnum.common import fleet
from magnum.db import sqlalchemy as database

from vobjects import exceptions
from vobjects.objects import manifest
from vobjects.rpc import Member
from vobjects_sql.ledger import SqlLedger


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


def test_revision_creates_the_tables_that_the_ledger_needs():
    folder = pathlib.Path(database.__file__).parent / 'alembic/versions'
    spec = importlib.util.spec_from_file_location(
        'revision', folder / '5f1ee7c0ffee_ledger.py'
    )
    revision = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(revision)
    engine = sqlalchemy.create_engine(
        'sqlite://', poolclass=sqlalchemy.pool.StaticPool
    )
    with engine.begin() as connection:
        context = MigrationContext.configure(connection)
        with Operations.context(context):
            revision.upgrade()

    member = Member('a', 'conductor', 'host', 'magnum', '23', manifest.local())

    assert SqlLedger(engine).report(member).has_changed
