# SPDX-License-Identifier: Apache-2.0
"""Constants of the clustering API v1, as in Senlin's API reference."""

from __future__ import annotations

#: Maximum characters of a name or ID, and of any text that is stored in its
#: own database column.
MAX_TEXT = 255

#: Maximum bytes of JSON and other text in one page of a list.
MAX_PAGE_BYTES = 4 << 20

CLUSTER_STATUSES = (
    'INIT',
    'ACTIVE',
    'CREATING',
    'UPDATING',
    'RESIZING',
    'DELETING',
    'CHECKING',
    'RECOVERING',
    'CRITICAL',
    'ERROR',
    'WARNING',
    'OPERATING',
)

NODE_STATUSES = (
    'INIT',
    'ACTIVE',
    'ERROR',
    'WARNING',
    'CREATING',
    'UPDATING',
    'DELETING',
    'RECOVERING',
    'OPERATING',
)

#: Status of an action that waits until a user completes its lifecycle hook.
WAITING_LIFECYCLE = 'WAITING_LIFECYCLE_COMPLETION'

ACTION_STATUSES = (
    'INIT',
    'WAITING',
    'READY',
    'RUNNING',
    'SUCCEEDED',
    'FAILED',
    'CANCELLED',
    WAITING_LIFECYCLE,
    'SUSPENDED',
)

#: Final statuses of an action.
ACTION_ENDS = ('SUCCEEDED', 'FAILED', 'CANCELLED')

CLUSTER_ACTIONS = (
    'CLUSTER_CREATE',
    'CLUSTER_DELETE',
    'CLUSTER_UPDATE',
    'CLUSTER_ADD_NODES',
    'CLUSTER_DEL_NODES',
    'CLUSTER_RESIZE',
    'CLUSTER_CHECK',
    'CLUSTER_RECOVER',
    'CLUSTER_REPLACE_NODES',
    'CLUSTER_SCALE_OUT',
    'CLUSTER_SCALE_IN',
    'CLUSTER_ATTACH_POLICY',
    'CLUSTER_DETACH_POLICY',
    'CLUSTER_UPDATE_POLICY',
    'CLUSTER_OPERATION',
)

NODE_ACTIONS = (
    'NODE_CREATE',
    'NODE_DELETE',
    'NODE_UPDATE',
    'NODE_JOIN',
    'NODE_LEAVE',
    'NODE_CHECK',
    'NODE_RECOVER',
    'NODE_OPERATION',
)

CAUSE_REQUEST = 'RPC Request'
CAUSE_DERIVED = 'Derived Action'
#: Cause of a derived action that runs a lifecycle hook before its own work.
CAUSE_DERIVED_HOOK = 'Derived Action with Lifecycle Hook'

#: Transition reported to a lifecycle hook when a node is removed.
LIFECYCLE_TERMINATION = 'termination'

ADJUSTMENT_TYPES = (
    'EXACT_CAPACITY',
    'CHANGE_IN_CAPACITY',
    'CHANGE_IN_PERCENTAGE',
)

#: Cluster actions that scaling policies control and that have a cooldown.
SCALING_ACTIONS = ('CLUSTER_SCALE_IN', 'CLUSTER_SCALE_OUT')

#: Node attributes that ``filters`` of a cluster operation may name.
OPERATION_FILTERS = ('name', 'profile_id', 'role', 'status')

RECOVERY_OPERATIONS = ('REBOOT', 'REBUILD', 'RECREATE')
REBOOT_TYPES = ('SOFT', 'HARD')

CLUSTER_SORT_KEYS = ('name', 'status', 'init_at', 'created_at', 'updated_at')
NODE_SORT_KEYS = (
    'index',
    'name',
    'status',
    'init_at',
    'created_at',
    'updated_at',
)
POLICY_SORT_KEYS = ('type', 'name', 'created_at', 'updated_at')
CLUSTER_POLICY_SORT_KEYS = ('enabled', 'priority', 'policy_name')
PROFILE_SORT_KEYS = ('type', 'name', 'created_at', 'updated_at')
ACTION_SORT_KEYS = ('name', 'target', 'action', 'created_at', 'status')
RECEIVER_TYPES = ('webhook', 'message')
RECEIVER_SORT_KEYS = (
    'name',
    'type',
    'action',
    'cluster_id',
    'created_at',
    'user',
)
EVENT_SORT_KEYS = (
    'timestamp',
    'level',
    'otype',
    'oname',
    'action',
    'status',
    'oid',
    'cluster_id',
)

#: Types of the objects that events describe.
EVENT_OBJECTS = ('CLUSTER', 'NODE')

#: Event levels and their numbers, as in Python's logging.
EVENT_LEVELS = {
    'CRITICAL': 50,
    'ERROR': 40,
    'WARN': 30,
    'INFO': 20,
    'DEBUG': 10,
}
