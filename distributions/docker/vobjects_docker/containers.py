# SPDX-License-Identifier: Apache-2.0
"""Containers on hosts with a Docker daemon.

A label of the container holds the key that it was created for.
"""

from __future__ import annotations

import contextlib
import json
import shlex
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, TypeVar

import msgspec
from docker import errors
from oslo_config import cfg

from engine.providers import base
from vobjects import exceptions
from vobjects_docker import connection

LABEL = 'vobjects.node'

#: Seconds that a container has for stopping before it is killed.
STOP_TIMEOUT = 10

#: Seconds between two requests while another caller creates a container.
_POLL_INTERVAL = 0.1

#: Maximum number of words of a command in a description, and their length.
_MAX_WORDS = 256
_MAX_WORD_LENGTH = 4096

T = TypeVar('T')

_Id = Annotated[str, msgspec.Meta(pattern='^[0-9a-zA-Z]{1,128}$')]
#: Excludes characters that a database or UTF-8 cannot hold.
_STORABLE = '^[^\\x00\\ud800-\\udfff]*$'
_Text = Annotated[str, msgspec.Meta(max_length=255, pattern=_STORABLE)]
_ExitCode = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**32 - 1)]


# https://docs.docker.com/reference/api/engine/ defines these names.


class _ContainerId(msgspec.Struct):
    Id: _Id


class _State(msgspec.Struct):
    Status: _Text
    ExitCode: _ExitCode | None = None


class _Config(msgspec.Struct):
    Image: _Text | None = None
    # Daemons accept words of any length, and with any character.
    Cmd: list[str] | None = None


class _Inspected(msgspec.Struct):
    Id: _Id
    Name: _Text
    State: _State
    Config: _Config | None = None
    Created: _Text | None = None


class Containers:
    """Containers on any host; see :class:`engine.providers.base.Containers`.

    :param conf: the configuration, with ``[provider_docker]``
    :raises engine.http_client.ConfigError: a forbidden network is not valid
    :raises vobjects.exceptions.TlsConfigError: the TLS options
        are not valid
    """

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self._daemons = connection.Daemons(conf, 'its host')

    def create(
        self, host: str, key: str, name: str, properties: Mapping[str, Any]
    ) -> base.Container:
        description = f'run the container of node {key}'
        try:
            with self._client(host, description) as client:
                container_id = self._ensure(client, key, name, properties)
                client.start(container_id)
                return self._inspected(client, container_id)
        except base.ContainerNotFound as error:
            # Another caller deletes it now.
            raise base.ProviderError(str(error)) from None

    def find(self, host: str, key: str) -> base.Container | None:
        description = f'look for the container of node {key}'
        with self._client(host, description) as client:
            container_id = _find(client, key)
            if container_id is None:
                return None
            return self._inspected(client, container_id)

    def get(self, host: str, container_id: str) -> base.Container:
        description = f'show container {container_id}'
        with self._client(host, description) as client:
            return self._inspected(client, container_id)

    def rename(
        self, host: str, container_id: str, name: str
    ) -> base.Container:
        description = f'rename container {container_id}'
        with self._client(host, description) as client:
            container = self._inspected(client, container_id)
            if container.name != name:
                client.rename(container_id, name)
            return self._inspected(client, container_id)

    def delete(self, host: str, container_id: str) -> None:
        """Stop and delete a container and its anonymous volumes, if any."""
        description = f'remove container {container_id}'
        with (
            contextlib.suppress(base.ContainerNotFound),
            self._client(host, description) as client,
        ):
            self._inspected(client, container_id)
            client.stop(container_id, timeout=STOP_TIMEOUT)
            _remove(client, container_id)

    def operate(
        self,
        host: str,
        container_id: str,
        operation: str,
        parameters: Mapping[str, Any],
    ) -> base.Container:
        description = f'{operation} container {container_id}'
        with self._client(host, description) as client:
            status = self._inspected(client, container_id).status
            if operation == 'restart':
                wait = parameters.get('wait_time')
                seconds = STOP_TIMEOUT if wait is None else wait
                client.restart(container_id, timeout=seconds)
            # An engine that died may have done this already.
            elif operation == 'pause' and status != 'paused':
                client.pause(container_id)
            elif operation == 'unpause' and status != 'running':
                client.unpause(container_id)
            return self._inspected(client, container_id)

    def _client(
        self, host: str, description: str
    ) -> contextlib.AbstractContextManager[Any]:
        """Return a client of a host; see :meth:`connection.Daemons.client`."""
        if host == base.NO_HOST:
            raise base.ProviderError(
                f'could not {description}: containers without a host need'
                ' [engine] provider = docker'
            )
        return self._daemons.client(host, description)

    def _inspected(self, client: Any, container_id: str) -> base.Container:
        return described(client.inspect_container(container_id))

    def _ensure(
        self, client: Any, key: str, name: str, properties: Mapping[str, Any]
    ) -> str:
        """Create a container, or return the existing container of ``key``.

        While a daemon creates a container, for example for an engine that has
        died, it first reserves the name, then lists the container, and
        describes it last.
        """

        def attempt() -> str | None:
            container_id = _find(client, key)
            if container_id is not None:
                return container_id
            try:
                return self._create(client, key, name, properties)
            except errors.APIError as error:
                if error.status_code != 409:
                    raise
                if _exists(client, name) and _find(client, key) is None:
                    raise
                return None

        return _wait(client, f'container {name} is being created', attempt)

    def _create(
        self, client: Any, key: str, name: str, properties: Mapping[str, Any]
    ) -> str:
        """Create a container; the daemon pulls the image if necessary."""
        arguments = self._arguments(client, key, properties)
        command = properties.get('command')
        response = client.create_container(
            image=_image(client, properties['image']),
            command=None if command is None else _words(command),
            name=name,
            # Don't use the proxies configured for the engine's user.
            use_config_proxy=False,
            **arguments,
        )
        return msgspec.convert(response, _ContainerId).Id

    def _arguments(
        self, client: Any, key: str, properties: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return further arguments for the creation of a container."""
        return {'labels': {LABEL: key}}


def _find(client: Any, key: str) -> str | None:
    """Return the ID of the container that was created for a key, if any.

    A daemon lists a container a moment before it can describe it.
    """

    def look() -> str | None:
        containers = msgspec.convert(
            client.containers(all=True, filters={'label': f'{LABEL}={key}'}),
            list[_ContainerId],
        )
        if not containers:
            return ''
        return containers[0].Id if _exists(client, containers[0].Id) else None

    event = f'the container of node {key} is being created or removed'
    return _wait(client, event, look) or None


def _exists(client: Any, name_or_id: str) -> bool:
    try:
        client.inspect_container(name_or_id)
    except errors.NotFound:
        return False
    return True


def _wait(client: Any, event: str, poll: Callable[[], T | None]) -> T:
    """Call a function until it returns a value other than None.

    :param event: what the daemon does meanwhile, for the message
    :raises engine.providers.base.ProviderError: the time is up
    """
    end = time.monotonic() + client.timeout
    while (result := poll()) is None:
        if time.monotonic() >= end:
            raise base.ProviderError(
                f'{event}, and not ready within {client.timeout:g} seconds'
            )
        time.sleep(_POLL_INTERVAL)
    return result


def _image(client: Any, name: str) -> str:
    """Pull an image unless the daemon has it, and return its name."""
    try:
        client.inspect_image(name)
    except errors.ImageNotFound:
        # Without auth_config, the library would send the registry credentials
        # that it finds in ~/.docker of the engine's user.
        messages = client.pull(name, auth_config={})
        for error in _pull_errors(messages):
            raise base.ProviderError(
                f'could not pull the image {name}:'
                f' {exceptions.message_text(error)}'
            ) from None
    return name


def _pull_errors(messages: str) -> Iterator[str]:
    """Yield the errors among a daemon's messages about an image.

    After the first message, a daemon has sent the status 200 already.

    :param messages: JSON documents, separated by line feeds
    """
    for line in messages.splitlines():
        with contextlib.suppress(ValueError, RecursionError):
            message = json.loads(line)
            if isinstance(message, dict) and message.get('error'):
                yield str(message['error'])


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        raise base.ProviderError(
            f'could not read the command {exceptions.cut(command)}: {error}'
        ) from None


def _remove(client: Any, container_id: str) -> None:
    try:
        client.remove_container(container_id, force=True, v=True)
    except errors.APIError as error:
        if error.status_code != 409:
            raise
        # Another caller is removing it, such as an engine that died.
        client.wait(container_id, timeout=client.timeout, condition='removed')


def described(response: object) -> base.Container:
    """Return a container from the daemon's description.

    :raises msgspec.ValidationError: the description is malformed
    """
    container = msgspec.convert(response, _Inspected)
    config = container.Config or _Config()
    name = container.Name.lstrip('/')
    return base.Container(
        container.Id,
        name,
        container.State.Status,
        {
            'id': container.Id,
            'name': name,
            'status': container.State.Status,
            'created': container.Created,
            'image': config.Image,
            'command': config.Cmd and _shown(config.Cmd),
            'exit_code': container.State.ExitCode,
        },
    )


def _shown(command: list[str]) -> list[str]:
    """Return the words of a command, cleaned and cut."""
    return [
        exceptions.storable_text(word[:_MAX_WORD_LENGTH])
        for word in command[:_MAX_WORDS]
    ]
