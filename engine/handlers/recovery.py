# SPDX-License-Identifier: Apache-2.0
"""Validation shared by all recovery requests."""

from __future__ import annotations

from typing import Any

from engine.actions import action_run
from engine.profiles import nova_server
from vobjects import exceptions
from vobjects.clustering import errors


def check(request: Any) -> None:
    """Reject an unknown type of reboot.

    :param request: with ``operation`` and ``operation_params``
    :raises vobjects.clustering.errors.BadRequest: names the types
    """
    if action_run.given(request, 'operation') != 'REBOOT':
        return
    kind = (action_run.given(request, 'operation_params') or {}).get(
        'type', 'HARD'
    )
    if str(kind).upper() not in nova_server.REBOOTS:
        raise errors.BadRequest(
            f'Type field {exceptions.cut(kind)} in operation_params has to be'
            f' one of the following: {", ".join(nova_server.REBOOTS)}.'
        )
