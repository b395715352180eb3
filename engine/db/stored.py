# SPDX-License-Identifier: Apache-2.0
"""The columns with versioned objects: the inputs of unfinished actions.

``vobjects stored scan`` and ``vobjects fleet can-roll-back`` read this module.
"""

from __future__ import annotations

from engine.db import actions, models
from vobjects_sql.stored import StoredColumn

#: No engine reads the inputs of an action again that has ended.
STORED = (
    StoredColumn(
        models.Action.inputs, models.Action.status.in_(actions.UNFINISHED)
    ),
)
