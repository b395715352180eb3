# SPDX-License-Identifier: Apache-2.0
"""Add the action to the lines that its thread logs.

oslo.log reads the context of the thread. As JSON (``use_json``), a line has
all values of the context. As text, it shows the action in place of an instance
(:data:`TEXT_FORMAT`).
"""

from __future__ import annotations

from typing import Any

from engine.db import models
from vobjects.clustering.context import RequestContext

#: Value for oslo.log's option ``instance_uuid_format``.
TEXT_FORMAT = '[%(uuid)s] '


class ActionContext(RequestContext):
    """The user and the action that a line of the log is about."""

    def __init__(self, action: models.Action, *, overwrite: bool) -> None:
        super().__init__(
            user_id=action.user,
            project_id=action.project,
            domain_id=action.domain,
            request_id=action.request_id,
            resource_uuid=action.target,
            overwrite=overwrite,
        )
        self._about = {
            'action': action.action,
            'action_id': action.id,
            'target_id': action.target,
            'cluster_id': action.cluster_id,
        }

    @property
    def instance_uuid(self) -> str:
        """The description of the action in a line of text."""
        extra = self._about
        text = f'{extra["action"]} {extra["action_id"]}'
        if extra['cluster_id']:
            text += f' cluster {extra["cluster_id"]}'
        return text

    def get_logging_values(self) -> dict[str, Any]:
        """Return the values for a line of JSON."""
        return {**super().get_logging_values(), **self._about}


def enter(action: models.Action) -> None:
    """Attach an action to everything that this thread logs from now on."""
    ActionContext(action, overwrite=True)


def log_extra(action: models.Action) -> dict[str, Any]:
    """Return the ``extra`` of a single line, for threads with many tasks."""
    return {'context': ActionContext(action, overwrite=False)}
