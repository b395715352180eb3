# SPDX-License-Identifier: Apache-2.0
"""Operations on servers: requests to Nova, and awaited statuses."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from engine.providers import base

Parameters = Mapping[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Operation:
    """An operation on a server.

    :ivar action: Nova's name of the action
    :ivar content: creates the content of the request from the parameters
    :ivar status: the status to wait for; None: any but ERROR
    :ivar is_lasting: whether a server that has this status needs no request
    """

    action: str
    content: Callable[[Parameters], Any] = lambda _parameters: None
    status: str | None = None
    is_lasting: bool = False


def _reboot(parameters: Parameters) -> dict[str, Any]:
    return {'type': str(parameters.get('type') or 'SOFT').upper()}


def _password(parameters: Parameters) -> dict[str, Any]:
    password = parameters.get('admin_pass')
    if not password:
        raise base.ProviderError('change_password needs admin_pass')
    return {'adminPass': password}


def _rescue(parameters: Parameters) -> dict[str, Any] | None:
    image = parameters.get('image_ref')
    return {'rescue_image_ref': image} if image else None


def _evacuate(parameters: Parameters) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    if parameters.get('host'):
        arguments['host'] = parameters['host']
    if parameters.get('force') is not None:
        word = str(parameters['force']).strip().lower()
        arguments['force'] = word in ('1', 'on', 't', 'true', 'y', 'yes')
    return arguments


#: Operations that are a single action of Nova. For the others, see
#: :meth:`engine.providers.openstack.servers.Servers.operate`.
OPERATIONS: Mapping[str, Operation] = {
    'reboot': Operation('reboot', _reboot, 'ACTIVE'),
    'change_password': Operation('changePassword', _password),
    'pause': Operation('pause', status='PAUSED', is_lasting=True),
    'unpause': Operation('unpause', status='ACTIVE', is_lasting=True),
    'suspend': Operation('suspend', status='SUSPENDED', is_lasting=True),
    'resume': Operation('resume', status='ACTIVE', is_lasting=True),
    'lock': Operation('lock'),
    'unlock': Operation('unlock'),
    'start': Operation('os-start', status='ACTIVE', is_lasting=True),
    'stop': Operation('os-stop', status='SHUTOFF', is_lasting=True),
    'rescue': Operation('rescue', _rescue, 'RESCUE', is_lasting=True),
    'unrescue': Operation('unrescue', status='ACTIVE', is_lasting=True),
    'evacuate': Operation('evacuate', _evacuate, 'ACTIVE'),
}
