# SPDX-License-Identifier: Apache-2.0
"""Nova's servers; see :class:`engine.providers.base.Servers`.

A tag of the server holds the key that it was created for. Each method waits
until Nova has finished: until the server has the wanted status and no task. If
the server changes to ERROR, the method raises an exception with Nova's reason.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from engine.providers import base
from engine.providers.openstack import (
    ports,
    sdk_errors,
    server_details,
    server_requests,
)
from engine.providers.openstack.connection import Cloud
from engine.providers.openstack.server_requests import OPERATIONS, Operation

LOG = logging.getLogger(__name__)

#: Microversions of Nova. Responses have tags since 2.26, and the ID of the
#: flavor until 2.46. A new server can have tags since 2.52, personality until
#: 2.56 and volume types since 2.67.
SHOW_MICROVERSION, CREATE_MICROVERSION, VOLUME_TYPE_MICROVERSION = (
    '2.46',
    '2.52',
    '2.67',
)

_TASK = 'OS-EXT-STS:task_state'

#: Statuses of a server that was deleted.
_GONE = ('DELETED', 'SOFT_DELETED')

#: Status of a server that was stopped.
_STOPPED = 'SHUTOFF'

#: Status of a server whose resize or migration has to be confirmed.
_RESIZED = 'VERIFY_RESIZE'

#: Description of a server that its node no longer uses.
_DETACHED = 'left by its vobjects node'


class Servers:
    """The servers of one region."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud

    def create(
        self, key: str, name: str, properties: Mapping[str, Any]
    ) -> base.Server:
        description = f'create the server of node {key}'
        server = self.find(key)
        server_id = server.id if server else None
        try:
            if server_id is None:
                with sdk_errors.converted(description):
                    server_id = self._request_server(key, name, properties)
            return self._wait(server_id, 'ACTIVE', description)
        except base.ProviderError:
            self._clean_up(key, server_id)
            raise

    def find(self, key: str) -> base.Server | None:
        with sdk_errors.converted(f'look for the server of node {key}'):
            response = self._cloud.send(
                'GET',
                'compute',
                '/servers/detail',
                params={'tags': server_requests.tag(key)},
                microversion=SHOW_MICROVERSION,
            )
        for server in response.json()['servers']:
            if server['status'] in _GONE or _is_detached(server):
                continue
            return _server(server)
        return None

    def get(self, server_id: str) -> base.Server:
        return _server(self._get(server_id))

    def profile_properties(self, server_id: str) -> Mapping[str, Any]:
        return server_details.profile_properties(self._get(server_id))

    def update(
        self,
        key: str,
        server_id: str,
        name: str,
        old: Mapping[str, Any],
        new: Mapping[str, Any],
    ) -> base.Server:
        """Update a server, beginning with changes that restart it."""
        server = self._get(server_id)
        with sdk_errors.converted(
            f'update server {server_id}', base.ServerNotFound
        ):
            if new.get('image'):
                self._set_image(server, new['image'])
            elif old.get('image'):
                raise base.ProviderError(
                    f'the image of server {server_id} cannot be removed'
                )
            self._set_flavor(server, new['flavor'])
            if name != server['name']:
                body = {'server': {'name': name}}
                self._cloud.send(
                    'PUT', 'compute', f'/servers/{server_id}', json=body
                )
            self._set_metadata(
                server, old.get('metadata') or {}, new.get('metadata') or {}
            )
        before, after = old.get('networks') or (), new.get('networks') or ()
        if before != after:
            ports.replace_ports(self._cloud, key, server_id, before, after)
        return self.get(server_id)

    def set_metadata(
        self, server_id: str, metadata: Mapping[str, str | None]
    ) -> None:
        server = self._get(server_id)
        new = {k: v for k, v in metadata.items() if v is not None}
        with sdk_errors.converted(
            f'change the metadata of server {server_id}', base.ServerNotFound
        ):
            self._set_metadata(server, metadata, new)

    def delete(
        self,
        server_id: str,
        *,
        force: bool = False,
        timeout: float | None = None,
    ) -> None:
        description = f'delete server {server_id}'
        try:
            self._request_deletion(server_id, force=force)
        except base.ServerNotFound:
            return
        is_repeated = False

        def poll() -> bool | None:
            nonlocal is_repeated
            try:
                server = self._get(server_id)
                if server['status'] != 'ERROR' or server.get(_TASK):
                    return None
                if is_repeated:
                    raise base.ProviderError(
                        f'could not {description}: {_fault(server)}'
                    )
                # Nova forgets the deletion of a server that it still builds
                # if the build fails afterwards.
                is_repeated = True
                self._request_deletion(server_id, force=force)
            except base.ServerNotFound:
                return True
            return None

        self._cloud.wait_until(
            poll, description, self._timeout() if timeout is None else timeout
        )

    def _request_deletion(self, server_id: str, *, force: bool) -> None:
        with sdk_errors.converted(
            f'delete server {server_id}', base.ServerNotFound
        ):
            if force:
                self._server_action(server_id, 'forceDelete', None)
            else:
                self._cloud.send('DELETE', 'compute', f'/servers/{server_id}')

    def detach(self, key: str) -> None:
        """Detach the server of ``key``, so that it can get a new one.

        Nova allows changing the description of a server in ERROR, but not its
        tags.
        """
        server = self.find(key)
        if server is None:
            return
        body = {'server': {'description': _DETACHED}}
        with sdk_errors.converted(f'leave server {server.id}'):
            self._cloud.send(
                'PUT',
                'compute',
                f'/servers/{server.id}',
                json=body,
                microversion=SHOW_MICROVERSION,
            )
        ports.detach_ports(self._cloud, key)

    def delete_related(self, key: str) -> None:
        """Delete the ports and floating IPs created for ``key``."""
        ports.delete_ports(self._cloud, key)

    def operate(
        self, server_id: str, operation: str, parameters: Mapping[str, Any]
    ) -> base.Server:
        if operation == 'rebuild':
            return self._rebuild_and_start(server_id)
        if operation == 'restore':
            return self._rebuild(server_id, parameters['image'])
        if operation == 'migrate':
            return self._migrate(server_id)
        if operation == 'snapshot':
            name = parameters.get('name') or f'snapshot-{server_id}'
            self.snapshot(server_id, name)
            return self.get(server_id)
        if operation == 'rescue' and parameters.get('image_ref'):
            image = server_requests.image_id(
                self._cloud, parameters['image_ref']
            )
            parameters = {**parameters, 'image_ref': image}
        return self._operate(
            server_id, operation, OPERATIONS[operation], parameters
        )

    def snapshot(self, server_id: str, name: str) -> str:
        description = f'create an image of server {server_id}'
        with sdk_errors.converted(description, base.ServerNotFound):
            response = self._server_action(
                server_id, 'createImage', {'name': name}
            )
            image_id = str(response.json()['image_id'])

        def is_active() -> bool | None:
            with sdk_errors.converted(description):
                status = self._cloud.image.get_image(image_id).status
            if status in ('killed', 'deleted'):
                raise base.ProviderError(
                    f'could not {description}: the image is {status}'
                )
            return status == 'active' or None

        self._cloud.wait_until(is_active, description)
        return image_id

    # Creation

    def _request_server(
        self, key: str, name: str, properties: Mapping[str, Any]
    ) -> str:
        server = server_requests.server_body(
            self._cloud, key, name, properties
        )
        body: dict[str, Any] = {'server': server}
        if properties.get('scheduler_hints'):
            body['os:scheduler_hints'] = properties['scheduler_hints']
        volumes = server.get('block_device_mapping_v2') or ()
        has_types = any(volume.get('volume_type') for volume in volumes)
        microversion = (
            VOLUME_TYPE_MICROVERSION if has_types else CREATE_MICROVERSION
        )

        def request() -> str:
            response = self._cloud.send(
                'POST',
                'compute',
                '/servers',
                json=body,
                microversion=microversion,
                connect_retries=0,
            )
            return str(response.json()['server']['id'])

        def find() -> str | None:
            found = self.find(key)
            return found.id if found else None

        return sdk_errors.create_once(self._cloud.options, request, find)

    def _clean_up(self, key: str, server_id: str | None) -> None:
        """Delete what exists of a server whose creation failed."""
        try:
            if server_id is None and (found := self.find(key)):
                # The response to its creation was not understood.
                server_id = found.id
            if server_id is not None:
                self.delete(server_id)
            self.delete_related(key)
        except base.ProviderError as error:
            # Deleting the node tries again.
            LOG.warning('Something of node %s is left: %s', key, error)

    # Changes

    def _set_image(self, server: Mapping[str, Any], image: str) -> None:
        image_id = server_requests.image_id(self._cloud, image)
        if image_id != server_details.image_id(server):
            self._rebuild(server['id'], image_id)

    def _set_flavor(self, server: Mapping[str, Any], flavor: str) -> None:
        server_id = server['id']
        flavor_id = server_requests.flavor_id(self._cloud, flavor)
        if flavor_id != server_details.flavor_id(server):
            self._server_action(server_id, 'resize', {'flavorRef': flavor_id})
        elif server['status'] != _RESIZED:
            return
        self._confirm(server_id, f'resize server {server_id}')

    def _migrate(self, server_id: str) -> base.Server:
        description = f'migrate server {server_id}'
        with sdk_errors.converted(description, base.ServerNotFound):
            if self._get(server_id)['status'] != _RESIZED:
                self._server_action(server_id, 'migrate', None)
            return self._confirm(server_id, description)

    def _confirm(self, server_id: str, description: str) -> base.Server:
        """Confirm the resize or migration of a server once it is ready."""
        self._wait(server_id, _RESIZED, description, or_stays=True)
        self._server_action(server_id, 'confirmResize', None)

        def poll() -> base.Server | None:
            # Nova sets no task while it confirms.
            server = self._wait(server_id, '', description)
            return None if server.status == _RESIZED else server

        return self._cloud.wait_until(poll, description)

    def _set_metadata(
        self,
        server: Mapping[str, Any],
        old: Mapping[str, Any],
        new: Mapping[str, Any],
    ) -> None:
        path = f'/servers/{server["id"]}/metadata'
        current = server.get('metadata') or {}
        texts = server_requests.metadata_texts(new)
        for key in old:
            if key not in texts and key in current:
                self._cloud.send('DELETE', 'compute', f'{path}/{key}')
        if any(current.get(key) != text for key, text in texts.items()):
            self._cloud.send('POST', 'compute', path, json={'metadata': texts})

    def _rebuild(self, server_id: str, image: str) -> base.Server:
        description = f'rebuild server {server_id}'
        with sdk_errors.converted(description, base.ServerNotFound):
            content = {
                'imageRef': server_requests.image_id(self._cloud, image)
            }
            self._server_action(server_id, 'rebuild', content)
            return self._wait(server_id, '', description)

    def _rebuild_and_start(self, server_id: str) -> base.Server:
        """Rebuild a server from its image, keeping its ID, and start it."""
        server = self._get(server_id)
        image = server_details.image_id(server)
        if not image:
            raise base.ProviderError(
                f'server {server_id} has no image to be rebuilt from'
            )
        rebuilt = self._rebuild(server_id, image)
        if server['status'] != _STOPPED:
            return rebuilt
        # Nova starts a stopped server to rebuild it, and stops it again.
        with sdk_errors.converted(f'rebuild server {server_id}'):
            self._wait(server_id, _STOPPED, f'rebuild server {server_id}')
        return self.operate(server_id, 'start', {})

    def _operate(
        self,
        server_id: str,
        name: str,
        operation: Operation,
        parameters: Mapping[str, Any],
    ) -> base.Server:
        description = f'{name.replace("_", " ")} server {server_id}'
        server = self._get(server_id)
        # An engine that died may have done this already.
        is_done = operation.is_lasting and server['status'] == operation.status
        with sdk_errors.converted(description, base.ServerNotFound):
            if not is_done:
                content = operation.content(parameters)
                self._server_action(server_id, operation.action, content)
            return self._wait(server_id, operation.status or '', description)

    # Requests to Nova

    def _server_action(self, server_id: str, action: str, content: Any) -> Any:
        return self._cloud.send(
            'POST',
            'compute',
            f'/servers/{server_id}/action',
            json={action: content},
            microversion=CREATE_MICROVERSION,
        )

    def _get(self, server_id: str) -> dict[str, Any]:
        description = f'show server {server_id}'
        with sdk_errors.converted(description, base.ServerNotFound):
            response = self._cloud.send(
                'GET',
                'compute',
                f'/servers/{server_id}',
                microversion=SHOW_MICROVERSION,
            )
            server: dict[str, Any] = response.json()['server']
        if server['status'] in _GONE:
            raise base.ServerNotFound(f'server {server_id} is deleted')
        return server

    def _wait(
        self,
        server_id: str,
        status: str,
        description: str,
        *,
        or_stays: bool = False,
    ) -> base.Server:
        """Wait until a server has no task.

        :param status: the status to wait for; empty: any but ERROR
        :param or_stays: whether another status means that Nova gave up the
            operation
        """

        def poll() -> base.Server | None:
            server = self._get(server_id)
            if server.get(_TASK):
                return None
            if server['status'] == 'ERROR':
                raise base.ProviderError(
                    f'could not {description}: {_fault(server)}'
                )
            if not status or server['status'] == status:
                return _server(server)
            if or_stays:
                raise base.ProviderError(
                    f'could not {description}: Nova left it {server["status"]}'
                )
            return None

        return self._cloud.wait_until(poll, description)

    def _timeout(self) -> float:
        return float(self._cloud.options.server_timeout)


def _server(server: Mapping[str, Any]) -> base.Server:
    return base.Server(
        server['id'],
        server['name'],
        server['status'],
        server_details.details(server),
    )


def _is_detached(server: Mapping[str, Any]) -> bool:
    return bool(server.get('description') == _DETACHED)


def _fault(server: Mapping[str, Any]) -> str:
    fault = server.get('fault') or {}
    return f'{fault.get("code", 500)}: {fault.get("message", "no reason")}'
