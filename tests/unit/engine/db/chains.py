# SPDX-License-Identifier: Apache-2.0
"""Migration chains of a future release, for tests."""

from __future__ import annotations

import pathlib
import shutil
import textwrap

from engine.db import migrations, schema_phase


def next_release(directory: pathlib.Path) -> schema_phase.Chains:
    """Return the phases of a release that replaces ``nodes.role``.

    :param directory: an empty directory for its revisions
    """
    grown = copied(migrations.EXPAND, directory / 'expand')
    add(grown, 'e900', "op.add_column('nodes', sa.Column('duty', sa.Text()))")
    shrunk = copied(migrations.CONTRACT, directory / 'contract')
    add(shrunk, 'c900', "op.drop_column('nodes', 'role')")
    return schema_phase.Chains(grown, shrunk)


def copied(
    chain: migrations.Chain, directory: pathlib.Path
) -> migrations.Chain:
    """Return a copy of the chain of revisions in a new directory."""
    ignored = shutil.ignore_patterns('__pycache__')
    shutil.copytree(chain.directory, directory, ignore=ignored)
    return migrations.Chain(directory, chain.table)


def add(chain: migrations.Chain, revision: str, body: str) -> None:
    """Write a revision after all others.

    :param body: Python statements
    """
    # Revisions are cached by path, so use another path to the directory.
    before = migrations.Chain(
        chain.directory / '..' / chain.directory.name, chain.table
    )
    content = (
        'import sqlalchemy as sa\n'
        'from alembic import op\n'
        f'revision = {revision!r}\n'
        f'down_revision = {migrations.head(before)!r}\n'
        'def upgrade():\n' + textwrap.indent(body, '    ') + '\n'
    )
    (chain.directory / f'{revision}_test.py').write_text(content)
