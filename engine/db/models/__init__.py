# SPDX-License-Identifier: Apache-2.0
"""The tables.

::

    resources   profiles, clusters, nodes, projects, policies,
                cluster_policies, receivers, received_messages,
                receiver_credentials, project_trusts
    actions     actions, action_dependencies, locks, events
    health      health_registry, lifecycle_events
    fleet       services, ledger_state, calls, contract_version
    base        base class of the tables, and shared columns

Migrations are written by hand (``migrations/versions``). A test compares
their result with these classes on every database.
"""

from engine.db.models.actions import Action, ActionDependency, Event, Lock
from engine.db.models.base import TABLE_OPTIONS, Base, Owned, Time, new_id
from engine.db.models.fleet import (
    LEDGER,
    ContractVersion,
    RecordedCall,
)
from engine.db.models.health import (
    HealthRegistration,
    LifecycleEvent,
    ServerEvent,
)
from engine.db.models.resources import (
    Cluster,
    ClusterPolicy,
    Node,
    Policy,
    Profile,
    Project,
    ProjectTrust,
    ReceivedMessage,
    Receiver,
    ReceiverCredential,
)

__all__ = [
    'LEDGER',
    'TABLE_OPTIONS',
    'Action',
    'ActionDependency',
    'Base',
    'Cluster',
    'ClusterPolicy',
    'ContractVersion',
    'Event',
    'HealthRegistration',
    'LifecycleEvent',
    'Lock',
    'Node',
    'Owned',
    'Policy',
    'Profile',
    'Project',
    'ProjectTrust',
    'ReceivedMessage',
    'Receiver',
    'ReceiverCredential',
    'RecordedCall',
    'ServerEvent',
    'Time',
    'new_id',
]
