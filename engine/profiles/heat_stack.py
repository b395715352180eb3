# SPDX-License-Identifier: Apache-2.0
"""Nodes that are stacks: the profile type ``os.heat.stack-1.0``.

The properties are those of Senlin's type of the same name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.profiles import base, schema
from engine.profiles.schema import Property
from engine.providers import base as providers
from vobjects.clustering import consts, errors

PROPERTIES: schema.Schema = {
    'context': Property(
        'Map', 'Security context for the operations.', default={}
    ),
    'template': Property(
        'Map', 'Template of the stack.', default={}, updatable=True
    ),
    'template_url': Property(
        'String', 'URL of the template.', default='', updatable=True
    ),
    'parameters': Property(
        'Map', 'Values for the parameters.', default={}, updatable=True
    ),
    'files': Property(
        'Map',
        'Contents of the files that the template names.',
        default={},
        updatable=True,
    ),
    'timeout': Property(
        'Integer',
        'Minutes that an operation on the stack may take.',
        updatable=True,
    ),
    'disable_rollback': Property(
        'Boolean',
        'Whether a stack is left as it is when an operation fails.',
        default=True,
        updatable=True,
    ),
    'environment': Property(
        'Map', 'Environment of the stack.', default={}, updatable=True
    ),
}

OPERATIONS: Mapping[str, schema.Operation] = {
    'abandon': schema.Operation(
        'Forget the stack without removing what it is made of.'
    )
}

#: Names of a template's parameters that Heat sets by itself.
_PSEUDO = 'OS::'

#: Longest name of a stack (Heat, ``stack_name``).
_NAME_LENGTH = 255


class HeatStack:
    """See :class:`engine.profiles.base.ProfileType`."""

    name = 'os.heat.stack'
    version = '1.0'
    support_status: Mapping[str, list[dict[str, str]]] = {
        '1.0': [{'status': consts.SUPPORTED, 'since': '2016.04'}]
    }
    properties = PROPERTIES
    operations = OPERATIONS
    on_hosts = False

    def check_properties(self, properties: Mapping[str, Any]) -> None:
        """Refuse properties without a template."""
        if not (properties.get('template') or properties.get('template_url')):
            raise errors.InvalidSpec(
                "properties: needs 'template' or 'template_url'"
            )
        timeout = properties.get('timeout')
        if timeout is not None and timeout < 1:
            raise errors.InvalidSpec('properties.timeout: must be 1 or more')

    def create(
        self,
        provider: providers.Provider,
        node: base.NodeView,
        properties: Mapping[str, Any],
    ) -> str:
        """Make the node's stack and return its ID."""
        told = _told(node, properties)
        return provider.stacks.create(node.id, stack_name(node), told).id

    def update(
        self,
        provider: providers.Provider,
        node: base.NodeView,
        old: Mapping[str, Any],
        new: Mapping[str, Any],
    ) -> None:
        """Bring the stack from one spec to another."""
        base.refuse_fixed(PROPERTIES, old, new, 'a stack')
        if old != new:
            provider.stacks.update(node.known_id(), _told(node, new))

    def tell(self, provider: providers.Provider, node: base.NodeView) -> None:
        """Do nothing: Heat would update the stack for a change of its tags."""

    def delete(
        self, provider: providers.Provider, node: base.NodeView
    ) -> None:
        """Remove the stack, whether or not its ID is known."""
        for id_ in node.objects(provider.stacks.find):
            provider.stacks.delete(id_)

    def check(self, provider: providers.Provider, node: base.NodeView) -> str:
        """Return '' if the stack is well, else what is wrong with it."""
        if not node.physical_id:
            return 'it has no stack'
        try:
            stack = provider.stacks.check(node.physical_id)
        except providers.StackNotFound:
            return f'its stack {node.physical_id} is gone'
        if stack.status.endswith('_COMPLETE'):
            return ''
        reason = f': {stack.reason}' if stack.reason else ''
        return f'its stack {stack.id} is {stack.status}{reason}'

    def failed(self, provider: providers.Provider, node: base.NodeView) -> str:
        """Return why the object works no more; '': it does."""
        return self.check(provider, node)

    def recover(
        self,
        provider: providers.Provider,
        node: base.NodeView,
        properties: Mapping[str, Any],
        operation: str,
        parameters: Mapping[str, Any],
    ) -> str:
        """Make the stack anew and return its ID."""
        if operation != 'RECREATE':
            raise providers.ProviderError(
                f'a stack cannot be recovered by {operation}; use RECREATE'
            )
        self.delete(provider, node)
        return self.create(provider, node, properties)

    def operate(
        self,
        provider: providers.Provider,
        node: base.NodeView,
        operation: str,
        parameters: Mapping[str, Any],
    ) -> None:
        """Abandon the stack: there is nothing else."""
        provider.stacks.abandon(node.known_id())

    def adopt(
        self, provider: providers.Provider, physical_id: str, *, snapshot: bool
    ) -> dict[str, Any]:
        """Return properties by which the stack could be made."""
        if snapshot:
            raise providers.ProviderError('no snapshot is made of a stack')
        found = schema.given(
            PROPERTIES, provider.stacks.described(physical_id)
        )
        found['parameters'] = {
            name: value
            for name, value in (found.get('parameters') or {}).items()
            if not name.startswith(_PSEUDO)
        }
        return found

    def details(
        self, provider: providers.Provider, node: base.NodeView
    ) -> dict[str, Any]:
        """Return what the cloud says about the stack."""
        return dict(provider.stacks.get(node.known_id()).details)


def stack_name(node: base.NodeView) -> str:
    """Return a name for a node's stack that no other stack has.

    Heat wants a letter first.
    """
    end = f'-{node.id[:8]}'
    start = node.name if node.name[:1].isalpha() else f'node-{node.name}'
    return start[: _NAME_LENGTH - len(end)] + end


def _told(
    node: base.NodeView, properties: Mapping[str, Any]
) -> dict[str, Any]:
    """Return properties with tags that tell of the node."""
    tags = [f'{key}={value}' for key, value in node.membership().items()]
    return {**properties, 'tags': tags}
