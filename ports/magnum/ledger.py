# SPDX-License-Identifier: Apache-2.0
"""Create the tables of the ledger.

Revision ID: 5f1ee7c0ffee
Revises: c0f832afc4fd
"""

from alembic import op

from vobjects_sql.ledger import migrations

revision = '5f1ee7c0ffee'
down_revision = 'c0f832afc4fd'


def upgrade():
    for step in 1, 2:
        migrations.expand(op, step)
