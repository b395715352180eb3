# SPDX-License-Identifier: Apache-2.0
"""The tables.

::

    clusters    profiles  <-  clusters  <-  nodes    the users' resources
                projects                             for checking quotas
    policies    policies  <-  cluster_policies       rules for clusters
    receivers   receivers, receiver_credentials,     external triggers of
                received_messages                    actions
    actions     actions, action_dependencies         work for engines
                locks                                resources in use
                events                               results of actions
    fleet       services, ledger_state               live processes
                calls                                recorded responses
                contract_version                     contracted schema
    simulation  simulated_servers,                   the simulated cloud
                simulated_messages

Some modules define their tables next to the code that uses them:
:mod:`engine.db.health`, :mod:`engine.db.lifecycle`,
:mod:`engine.db.simulation` and :mod:`engine.db.trusts`. Migrations are written
by hand (``migrations/versions``). A test compares their result with these
classes on every database.
"""

from engine.db.models.actions import Action, ActionDependency, Event, Lock
from engine.db.models.base import TABLE_OPTIONS, Base, Owned, Time, new_id
from engine.db.models.clusters import Cluster, Node, Profile, Project
from engine.db.models.fleet import (
    ContractVersion,
    LedgerState,
    RecordedCall,
    Service,
)
from engine.db.models.policies import ClusterPolicy, Policy
from engine.db.models.receivers import (
    ReceivedMessage,
    Receiver,
    ReceiverCredential,
)
from engine.db.models.simulation import SimulatedMessage, SimulatedServer

__all__ = [
    'TABLE_OPTIONS',
    'Action',
    'ActionDependency',
    'Base',
    'Cluster',
    'ClusterPolicy',
    'ContractVersion',
    'Event',
    'LedgerState',
    'Lock',
    'Node',
    'Owned',
    'Policy',
    'Profile',
    'Project',
    'ReceivedMessage',
    'Receiver',
    'ReceiverCredential',
    'RecordedCall',
    'Service',
    'SimulatedMessage',
    'SimulatedServer',
    'Time',
    'new_id',
]
