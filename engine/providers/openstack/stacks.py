# SPDX-License-Identifier: Apache-2.0
"""Heat's stacks; see :class:`engine.providers.base.Stacks`.

A tag of the stack holds the key that it was created for.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import openstack.exceptions

from engine.providers import base
from engine.providers.openstack import sdk_errors
from engine.providers.openstack.connection import Cloud

#: Property of a profile -> Heat's name for it.
_FIELDS = {
    'template': 'template',
    'template_url': 'template_url',
    'parameters': 'parameters',
    'files': 'files',
    'environment': 'environment',
    'timeout': 'timeout_mins',
    'disable_rollback': 'disable_rollback',
}

_SERVER_ERROR = 500

#: Status of a stack that was deleted.
_DELETED = 'DELETE_COMPLETE'

#: Seconds within which Heat must free the name of a deleted stack.
NAME_TIMEOUT = 60.0

#: Reason of a failed creation if Heat's response has none.
_HEAT_ERROR = (
    '500: Heat failed, and its log has the reason. If Keystone forbids Heat to'
    ' create a trust, set [receivers] allow_redelegation = true and delete the'
    " user's trust for this service in Keystone; the user's next request"
    ' creates another one'
)

#: Keys of Heat's description that users see.
_DETAILS = (
    'capabilities',
    'creation_time',
    'description',
    'disable_rollback',
    'id',
    'outputs',
    'parameters',
    'stack_name',
    'stack_status',
    'stack_status_reason',
    'tags',
    'timeout_mins',
    'updated_time',
)


class Stacks:
    """The stacks of one region."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud

    def create(
        self, key: str, name: str, properties: Mapping[str, Any]
    ) -> base.Stack:
        description = f'create the stack of node {key}'
        body = {'stack_name': name, **_request_body(properties)}

        def request() -> str:
            try:
                response = self._cloud.send(
                    *('POST', 'orchestration', '/stacks'),
                    json=body,
                    connect_retries=0,
                )
            except openstack.exceptions.HttpException as error:
                if error.status_code != _SERVER_ERROR:
                    raise
                raise base.ProviderError(
                    f'could not {description}: {_HEAT_ERROR}'
                ) from None
            return str(response.json()['stack']['id'])

        def find() -> str | None:
            stack = self.find(key)
            return stack.id if stack else None

        def attempt() -> str | None:
            try:
                return sdk_errors.create_once(
                    self._cloud.options, request, find
                )
            except openstack.exceptions.ConflictException:
                # Heat frees the name shortly after it has deleted a stack.
                if self._is_name_used(name):
                    raise
                return None

        with sdk_errors.converted(description):
            stack_id = find() or self._cloud.wait_until(
                attempt, description, NAME_TIMEOUT
            )
        return self._wait(stack_id, description, self._timeout(properties))

    def find(self, key: str) -> base.Stack | None:
        with sdk_errors.converted(f'look for the stack of node {key}'):
            response = self._cloud.send(
                'GET',
                'orchestration',
                '/stacks',
                params={'tags': f'cluster_node_id={key}'},
            )
        for stack in response.json()['stacks']:
            if stack['stack_status'] != _DELETED:
                return _stack(stack)
        return None

    def get(self, stack_id: str) -> base.Stack:
        return _stack(self._get(stack_id))

    def update(
        self, stack_id: str, properties: Mapping[str, Any]
    ) -> base.Stack:
        description, timeout = (
            f'update stack {stack_id}',
            self._timeout(properties),
        )
        # Heat runs one operation at a time; an engine that died may have
        # started another one.
        stack = self._wait_until_idle(stack_id, description, timeout)
        with sdk_errors.converted(description, base.StackNotFound):
            self._cloud.send(
                'PUT',
                'orchestration',
                _path(stack),
                json=_request_body(properties),
            )
        self._pause()
        return self._wait(stack_id, description, timeout)

    def delete(self, stack_id: str) -> None:
        description = f'delete stack {stack_id}'
        try:
            stack = self._get(stack_id)
            with sdk_errors.converted(description, base.StackNotFound):
                self._cloud.send('DELETE', 'orchestration', _path(stack))
            self._pause()
            remaining_stack = self._wait_until_idle(
                stack_id, description, self._timeout({})
            )
        except base.StackNotFound:
            return
        raise base.ProviderError(
            f'could not {description}: {remaining_stack["stack_status"]}:'
            f' {remaining_stack["stack_status_reason"]}'
        )

    def check(self, stack_id: str) -> base.Stack:
        """Run Heat's check of a stack's resources."""
        description = f'check stack {stack_id}'
        stack = self._wait_until_idle(stack_id, description, self._timeout({}))
        with sdk_errors.converted(description, base.StackNotFound):
            self._cloud.send(
                'POST',
                'orchestration',
                f'{_path(stack)}/actions',
                json={'check': None},
            )
        self._pause()
        return _stack(
            self._wait_until_idle(stack_id, description, self._timeout({}))
        )

    def abandon(self, stack_id: str) -> None:
        description = f'abandon stack {stack_id}'
        with sdk_errors.converted(description, base.StackNotFound):
            path = _path(self._get(stack_id))
            self._cloud.send('DELETE', 'orchestration', f'{path}/abandon')

    def profile_properties(self, stack_id: str) -> Mapping[str, Any]:
        stack = self._get(stack_id)
        description = f'describe stack {stack_id}'
        with sdk_errors.converted(description, base.StackNotFound):
            parts = {
                part: self._cloud.send(
                    'GET', 'orchestration', f'{_path(stack)}/{part}'
                ).json()
                for part in ('template', 'environment', 'files')
            }
        return {
            **parts,
            'parameters': stack.get('parameters') or {},
            'timeout': stack.get('timeout_mins'),
            'disable_rollback': stack.get('disable_rollback'),
        }

    def _is_name_used(self, name: str) -> bool:
        """Tell whether a stack that was not deleted has a name."""
        path = f'/stacks/{name}'
        try:
            response = self._cloud.send('GET', 'orchestration', path)
        except openstack.exceptions.NotFoundException:
            return False
        return bool(response.json()['stack']['stack_status'] != _DELETED)

    def _get(self, stack_id: str) -> dict[str, Any]:
        description = f'show stack {stack_id}'
        with sdk_errors.converted(description, base.StackNotFound):
            response = self._cloud.send(
                'GET', 'orchestration', f'/stacks/{stack_id}'
            )
            stack: dict[str, Any] = response.json()['stack']
        if stack['stack_status'] == _DELETED:
            raise base.StackNotFound(f'stack {stack_id} is deleted')
        return stack

    def _wait_until_idle(
        self, stack_id: str, description: str, timeout: float
    ) -> dict[str, Any]:
        """Return a stack once no operation on it is in progress."""

        def poll() -> dict[str, Any] | None:
            stack = self._get(stack_id)
            is_busy = stack['stack_status'].endswith('_IN_PROGRESS')
            return None if is_busy else stack

        return self._cloud.wait_until(poll, description, timeout)

    def _wait(
        self, stack_id: str, description: str, timeout: float
    ) -> base.Stack:
        """Wait for an operation to succeed, and return the stack.

        :raises engine.providers.base.ProviderError: with Heat's reason
        """
        stack = _stack(self._wait_until_idle(stack_id, description, timeout))
        # After a rollback, the status is COMPLETE as well.
        is_done = stack.status.endswith('_COMPLETE')
        if not is_done or stack.status.startswith('ROLLBACK'):
            raise base.ProviderError(
                f'could not {description}: {stack.status}: {stack.reason}'
            )
        return stack

    def _pause(self) -> None:
        """Wait until the status changes: Heat may respond before that."""
        time.sleep(self._cloud.options.poll_interval)

    def _timeout(self, properties: Mapping[str, Any]) -> float:
        minutes = properties.get('timeout')
        if minutes:
            return float(minutes) * 60
        return float(self._cloud.options.stack_timeout)


def _request_body(properties: Mapping[str, Any]) -> dict[str, Any]:
    body = {
        heat_name: properties[name]
        for name, heat_name in _FIELDS.items()
        if properties.get(name) not in (None, '', {})
    }
    body.setdefault('disable_rollback', True)
    if properties.get('tags'):
        body['tags'] = ','.join(properties['tags'])
    return body


def _path(stack: Mapping[str, Any]) -> str:
    return f'/stacks/{stack["stack_name"]}/{stack["id"]}'


def _stack(stack: Mapping[str, Any]) -> base.Stack:
    outputs = {
        output['output_key']: output.get('output_value')
        for output in stack.get('outputs') or ()
    }
    return base.Stack(
        stack['id'],
        stack['stack_name'],
        stack['stack_status'],
        stack.get('stack_status_reason') or '',
        outputs,
        {key: stack[key] for key in _DETAILS if key in stack},
    )
