# SPDX-License-Identifier: Apache-2.0
"""Typed clients of a service, synchronous and asynchronous, with httpx.

A client declares the operations of a service by its types::

    class Clusters(Operations[Http]):
        get = operation(
            'GET', '/v1/clusters/{identity}', ClusterGetRequest, Cluster,
            result='cluster',
        )
        delete = operation(
            'DELETE', '/v1/clusters/{identity}', ClusterDeleteRequest
        )


    class Clustering(Client[Http]):
        POLICY = history.POLICY

        clusters: Clusters[Http]


    client = Clustering(httpx.Client(base_url='http://127.0.0.1:8777'))
    client.clusters.delete(identity='web', force=True)

The keywords of an operation are the fields of its request. With
``httpx.AsyncClient``, each operation returns an awaitable.

::

    errors      errors of clients
    operations  declare operations
    messages    convert requests and responses between versions
    exchange    negotiate, repeat and retry requests, without input and output
    http        clients, which send the requests
"""

from __future__ import annotations

from vobjects_client.errors import (
    ClientError,
    InvalidResponse,
    NotSent,
    RequestFailed,
    ServerTooOld,
)
from vobjects_client.http import Client
from vobjects_client.operations import (
    Http,
    Location,
    Operations,
    operation,
)

__all__ = [
    'Client',
    'ClientError',
    'Http',
    'InvalidResponse',
    'Location',
    'NotSent',
    'Operations',
    'RequestFailed',
    'ServerTooOld',
    'operation',
]
