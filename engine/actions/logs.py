# SPDX-License-Identifier: Apache-2.0
"""What lines of the log about an action say besides their words.

oslo.log asks the context of a thread: as JSON (``use_json``) a line has all
of its values; as text it has the action where other services have the
instance (:data:`TEXT_FORMAT`).
"""

from __future__ import annotations

from typing import Any

from engine.db import models
from vobjects.clustering.context import RequestContext

#: For oslo.log's option ``instance_uuid_format``.
TEXT_FORMAT = '[%(uuid)s] '


class ActionContext(RequestContext):
    """On whose behalf, and for which action, something is done."""

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
        """What a line of text says of it."""
        about = self._about
        text = f'{about["action"]} {about["action_id"]}'
        if about['cluster_id']:
            text += f' cluster {about["cluster_id"]}'
        return text

    def get_logging_values(self) -> dict[str, Any]:
        """Return what a line of JSON says of it."""
        return {**super().get_logging_values(), **self._about}


def enter(action: models.Action) -> None:
    """Have all that this thread logs from now on be about an action."""
    ActionContext(action, overwrite=True)


def about(action: models.Action) -> dict[str, Any]:
    """Return the ``extra`` of one line, for a thread that does many things."""
    return {'context': ActionContext(action, overwrite=False)}
