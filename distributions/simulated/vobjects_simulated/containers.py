# SPDX-License-Identifier: Apache-2.0
"""Containers of the simulated cloud, on hosts of any name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.providers import base
from vobjects_simulated import rows, state, tables


class Containers:
    """The containers; see :class:`engine.providers.base.Containers`."""

    def __init__(self, cloud: state.Simulation) -> None:
        self._rows = _Rows(cloud)

    def create(
        self, host: str, key: str, name: str, properties: Mapping[str, Any]
    ) -> base.Container:
        return self._rows.add(
            key, name, 'running', {**properties, 'host': host}
        )

    def find(self, host: str, key: str) -> base.Container | None:
        return self._rows.find(key)

    def get(self, host: str, container_id: str) -> base.Container:
        return self._rows.get(container_id)

    def rename(
        self, host: str, container_id: str, name: str
    ) -> base.Container:
        return self._rows.change(container_id, 'rename', name=name)

    def delete(self, host: str, container_id: str) -> None:
        self._rows.remove(container_id)

    def operate(
        self,
        host: str,
        container_id: str,
        operation: str,
        parameters: Mapping[str, Any],
    ) -> base.Container:
        return self._rows.operate(container_id, operation, parameters)


class _Rows(rows.ResourceTable[base.Container]):
    model = tables.SimulatedContainer
    noun = 'container'
    not_found = base.ContainerNotFound
    transitions: rows.Transitions = {
        'restart': (None, 'running'),
        'pause': ('running', 'paused'),
        'unpause': ('paused', 'running'),
    }

    def described(self, row: tables.SimulatedContainer) -> base.Container:
        """Return a container."""
        return base.Container(
            row.id,
            row.name,
            row.status,
            {
                **rows.identity(row),
                'image': row.properties.get('image'),
                'command': row.properties.get('command'),
                'host': row.properties.get('host'),
            },
        )
