# SPDX-License-Identifier: Apache-2.0
"""The profile type ``container.docker.local-1.0``: containers without hosts.

The containers run on the Docker daemon that the operator has configured, see
:mod:`vobjects_docker`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from engine import spec_schema
from engine.profiles import base, docker_container
from engine.providers import base as providers
from vobjects import exceptions
from vobjects.clustering import errors

#: Maximum number of entries of a map, and of characters of their values.
MAX_ENTRIES = 64
MAX_VALUE_LENGTH = 4096

#: Maximum number of characters of the names in a map.
MAX_KEY_LENGTH = 255

SCHEMA = spec_schema.load(__package__, 'local_container')

_IMAGE = re.compile('[a-zA-Z0-9][a-zA-Z0-9_.:/@-]*')
_VARIABLE = re.compile('[a-zA-Z_][a-zA-Z0-9_]*')
_LABEL = re.compile('[a-zA-Z0-9][a-zA-Z0-9_./-]*')

#: Beginning of the names of labels that the service sets.
_RESERVED = 'vobjects.'


class LocalContainer(docker_container.DockerContainer):
    """The profile type of containers without hosts."""

    name = 'container.docker.local'
    version = '1.0'
    support_status = SCHEMA.support_status
    properties = SCHEMA.properties
    on_hosts = False
    policies = ('senlin.policy.health',)
    provider = 'docker'

    def check_properties(self, properties: Mapping[str, Any]) -> None:
        """Check names, values and sizes."""
        image = properties['image']
        segments = image.split('/')
        if not _IMAGE.fullmatch(image) or not all(
            segment.strip('.') for segment in segments
        ):
            raise errors.InvalidSpec(
                f'{spec_schema.PROPERTIES}.image: must be the name of an'
                f' image such as nginx:1, not {exceptions.cut(image)}'
            )
        docker_container.check_name(properties.get('name'))
        docker_container.check_command(properties.get('command'))
        _check_map(properties, 'environment', _VARIABLE)
        _check_map(properties, 'labels', _LABEL)
        for name in properties.get('labels') or ():
            if name.lower().startswith(_RESERVED):
                raise errors.InvalidSpec(
                    f'{spec_schema.PROPERTIES}.labels: the service sets labels'
                    f' that begin with {_RESERVED}; rename'
                    f' {exceptions.cut(name)}'
                )

    def host_url(
        self, provider: providers.Provider, node: base.NodeView
    ) -> str:
        """Return :data:`engine.providers.base.NO_HOST`."""
        return providers.NO_HOST

    def container_properties(
        self, node: base.NodeView, properties: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Return the properties of the container, with its owner."""
        return {
            **properties,
            'cluster': node.cluster_id,
            'project': node.project,
        }

    def adopt(
        self, provider: providers.Provider, physical_id: str, *, snapshot: bool
    ) -> dict[str, Any]:
        """Reject the request: the container may belong to anyone."""
        raise providers.ProviderError('a container cannot be adopted')


def _check_map(
    properties: Mapping[str, Any], name: str, key_pattern: re.Pattern[str]
) -> None:
    """Check a map of strings.

    :raises vobjects.clustering.errors.InvalidSpec: names the invalid entry
    """
    path = f'{spec_schema.PROPERTIES}.{name}'
    entries = properties.get(name) or {}
    if len(entries) > MAX_ENTRIES:
        raise errors.InvalidSpec(
            f'{path}: must have at most {MAX_ENTRIES} entries, not'
            f' {len(entries)}'
        )
    for key, value in entries.items():
        if len(key) > MAX_KEY_LENGTH or not key_pattern.fullmatch(key):
            raise errors.InvalidSpec(
                f'{path}: names must match {key_pattern.pattern} and have at'
                f' most {MAX_KEY_LENGTH} characters, not {exceptions.cut(key)}'
            )
        if (
            not isinstance(value, str)
            or len(value) > MAX_VALUE_LENGTH
            or '\0' in value
        ):
            raise errors.InvalidSpec(
                f'{path}.{key}: must be a string of at most'
                f' {MAX_VALUE_LENGTH} characters without NUL, not'
                f' {exceptions.cut(value)}'
            )
