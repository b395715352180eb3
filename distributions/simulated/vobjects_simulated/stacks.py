# SPDX-License-Identifier: Apache-2.0
"""Stacks of the simulated cloud."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.providers import base
from vobjects_simulated import rows, tables


class Stacks(rows.ResourceTable[base.Stack]):
    """The stacks; see :class:`engine.providers.base.Stacks`."""

    model = tables.SimulatedStack
    noun = 'stack'
    not_found = base.StackNotFound

    def create(
        self, key: str, name: str, properties: Mapping[str, Any]
    ) -> base.Stack:
        return self.add(key, name, 'CREATE_COMPLETE', properties)

    def update(
        self, stack_id: str, properties: Mapping[str, Any]
    ) -> base.Stack:
        return self.change(
            stack_id,
            'update',
            status='UPDATE_COMPLETE',
            properties=dict(properties),
        )

    def delete(self, stack_id: str) -> None:
        self.remove(stack_id)

    def check(self, stack_id: str) -> base.Stack:
        """Check a stack; its simulated resources never fail."""
        if self.get(stack_id).status.endswith('_FAILED'):
            return self.change(stack_id, 'check')
        return self.change(stack_id, 'check', status='CHECK_COMPLETE')

    def abandon(self, stack_id: str) -> None:
        """Delete a stack; it has no resources."""
        self.remove(stack_id)

    def profile_properties(self, stack_id: str) -> Mapping[str, Any]:
        with self.database.reader() as session:
            return dict(self.existing(session, stack_id).properties)

    def described(self, row: tables.SimulatedStack) -> base.Stack:
        """Return a stack with the outputs of its template."""
        template = row.properties.get('template') or {}
        # Users may write any JSON value.
        specs = template.get('outputs')
        outputs = {
            name: output.get('value')
            for name, output in (
                specs.items() if isinstance(specs, Mapping) else ()
            )
            if isinstance(output, Mapping)
        }
        return base.Stack(
            row.id,
            row.name,
            row.status,
            '',
            outputs,
            {
                'id': row.id,
                'stack_name': row.name,
                'stack_status': row.status,
                'creation_time': row.created_at.isoformat(),
                'parameters': row.properties.get('parameters') or {},
                'outputs': [
                    {'output_key': name, 'output_value': value}
                    for name, value in outputs.items()
                ],
            },
        )
