# SPDX-License-Identifier: Apache-2.0
"""Stacks of the simulated cloud."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.db import models
from engine.providers import base
from engine.providers.simulated import rows, state


class Stacks:
    """The stacks; see :class:`engine.providers.base.Stacks`."""

    def __init__(self, cloud: state.Simulation) -> None:
        self._rows = rows.ResourceTable(
            cloud, models.SimulatedStack, 'stack', base.StackNotFound
        )

    def create(
        self, key: str, name: str, properties: Mapping[str, Any]
    ) -> base.Stack:
        """Create a stack, or return the existing stack of ``key``."""
        return self._rows.create(
            key, name, 'CREATE_COMPLETE', properties, _stack
        )

    def find(self, key: str) -> base.Stack | None:
        """Return the stack that was created for ``key``, if any."""
        return self._rows.find(key, _stack)

    def get(self, stack_id: str) -> base.Stack:
        """Return a stack."""
        return self._rows.get(stack_id, _stack)

    def update(
        self, stack_id: str, properties: Mapping[str, Any]
    ) -> base.Stack:
        """Update the properties of a stack."""
        return self._rows.change(
            stack_id,
            'update',
            _stack,
            status='UPDATE_COMPLETE',
            properties=dict(properties),
        )

    def delete(self, stack_id: str) -> None:
        """Delete a stack, if it exists."""
        self._rows.delete(stack_id)

    def check(self, stack_id: str) -> base.Stack:
        """Check a stack; its simulated resources never fail."""
        if self.get(stack_id).status.endswith('_FAILED'):
            return self._rows.change(stack_id, 'check', _stack)
        return self._rows.change(
            stack_id, 'check', _stack, status='CHECK_COMPLETE'
        )

    def abandon(self, stack_id: str) -> None:
        """Delete a stack; it has no resources."""
        self._rows.delete(stack_id)

    def profile_properties(self, stack_id: str) -> Mapping[str, Any]:
        """Return the profile properties that describe a stack."""
        return self._rows.get(stack_id, _properties)


def _properties(row: models.SimulatedStack) -> dict[str, Any]:
    return dict(row.properties)


def _stack(row: models.SimulatedStack) -> base.Stack:
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
