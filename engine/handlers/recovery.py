# SPDX-License-Identifier: Apache-2.0
"""What every request for a recovery is checked for."""

from __future__ import annotations

from typing import Any

from engine.actions import work
from engine.profiles import nova_server
from vobjects import exceptions
from vobjects.clustering import errors


def check(request: Any) -> None:
    """Refuse a reboot of a type that there is not.

    :param request: with ``operation`` and ``operation_params``
    :raises vobjects.clustering.errors.BadRequest: naming the types
    """
    if work.given(request, 'operation') != 'REBOOT':
        return
    kind = (work.given(request, 'operation_params') or {}).get('type', 'HARD')
    if str(kind).upper() not in nova_server.REBOOTS:
        raise errors.BadRequest(
            f'Type field {exceptions.cut(kind)} in operation_params has to be'
            f' one of the following: {", ".join(nova_server.REBOOTS)}.'
        )
