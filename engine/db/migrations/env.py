# SPDX-License-Identifier: Apache-2.0
"""Alembic's entry point: run revisions on the given connection."""

from __future__ import annotations

from alembic import context

from engine.db import models

context.configure(
    connection=context.config.attributes['connection'],
    target_metadata=models.Base.metadata,
    version_table=context.config.attributes['version_table'],
    # The caller's transaction is the lock, also on SQLite.
    transactional_ddl=True,
    on_version_apply=lambda step, **_: context.config.attributes['report'](
        step.up_revision_id
    ),
)
context.run_migrations()
