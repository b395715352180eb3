# SPDX-License-Identifier: Apache-2.0
"""The profile type ``os.heat.stack-1.0``: nodes that are stacks.

The properties are those of Senlin's type of the same name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from engine import spec_schema
from engine.profiles import base
from engine.providers import base as providers
from vobjects.clustering import errors

SCHEMA = spec_schema.load(__package__, 'heat_stack')

#: Prefix of the parameters that Heat sets in every template.
_PSEUDO = 'OS::'

#: Maximum length of a stack's name (Heat, ``stack_name``).
_NAME_LENGTH = 255
_NOT_IN_NAME = re.compile('[^a-zA-Z0-9_.-]')


class HeatStack(base.ProfileType):
    """The profile type of stacks."""

    name = 'os.heat.stack'
    version = '1.0'
    noun = 'stack'
    support_status = SCHEMA.support_status
    properties = SCHEMA.properties
    operations = SCHEMA.operations

    def check_properties(self, properties: Mapping[str, Any]) -> None:
        """Check that there is a template, and a valid timeout."""
        if not (properties.get('template') or properties.get('template_url')):
            raise errors.InvalidSpec(
                f"{spec_schema.PROPERTIES}: needs 'template' or 'template_url'"
            )

    def create(
        self,
        provider: providers.Provider,
        node: base.NodeView,
        properties: Mapping[str, Any],
    ) -> str:
        """Create the node's stack and return its ID."""
        return provider.stacks.create(
            node.id, stack_name(node), _with_tags(node, properties)
        ).id

    # update_membership() stays empty: changing a stack's tags would make Heat
    # update the stack.

    def apply_update(
        self,
        provider: providers.Provider,
        node: base.NodeView,
        old: Mapping[str, Any],
        new: Mapping[str, Any],
    ) -> None:
        """Update the stack from one set of properties to another."""
        provider.stacks.update(
            node.require_physical_id(), _with_tags(node, new)
        )

    def delete(
        self, provider: providers.Provider, node: base.NodeView
    ) -> None:
        """Delete the stack, even if its ID was not recorded."""
        for id_ in node.object_ids(provider.stacks.find):
            provider.stacks.delete(id_)

    def check(self, provider: providers.Provider, node: base.NodeView) -> str:
        """Return why the stack is unhealthy; empty if it is healthy."""
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

    def operate(
        self,
        provider: providers.Provider,
        node: base.NodeView,
        operation: str,
        parameters: Mapping[str, Any],
    ) -> None:
        """Abandon the stack, which is the only operation."""
        provider.stacks.abandon(node.require_physical_id())

    def adopt(
        self, provider: providers.Provider, physical_id: str, *, snapshot: bool
    ) -> dict[str, Any]:
        """Return the properties that describe an existing stack."""
        if snapshot:
            raise providers.ProviderError('a stack has no snapshot')
        properties = spec_schema.select_properties(
            SCHEMA.properties, provider.stacks.profile_properties(physical_id)
        )
        properties['parameters'] = {
            name: value
            for name, value in (properties.get('parameters') or {}).items()
            if not name.startswith(_PSEUDO)
        }
        return properties

    def details(
        self, provider: providers.Provider, node: base.NodeView
    ) -> dict[str, Any]:
        """Return the cloud's description of the stack."""
        return dict(provider.stacks.get(node.require_physical_id()).details)


def stack_name(node: base.NodeView) -> str:
    """Return a unique name for a node's stack.

    Heat requires that it begin with a letter. Other characters of a node's
    name than Heat accepts become underscores.
    """
    end = f'-{node.id[:8]}'
    name = _NOT_IN_NAME.sub('_', node.name)
    start = name if name[:1].isalpha() else f'node-{name}'
    return start[: _NAME_LENGTH - len(end)] + end


def _with_tags(
    node: base.NodeView, properties: Mapping[str, Any]
) -> dict[str, Any]:
    """Return properties with tags for the node's membership."""
    tags = [f'{key}={value}' for key, value in node.membership().items()]
    return {**properties, 'tags': tags}
