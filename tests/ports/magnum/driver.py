# SPDX-License-Identifier: Apache-2.0
"""A cluster driver that records each change with the orchestration service.

Magnum's processes import it by an entry point. Releases of Magnum have
different clients of OpenStack; it uses none of them.
"""

import os

import requests
from magnum.drivers.common import driver
from magnum.objects import fields


def _call(method, context, path, body=None):
    response = requests.request(
        method,
        f'{os.environ["RECORDING_URL"]}/heat/v1/stacks{path}',
        json=body,
        headers={'X-Auth-Token': context.auth_token or ''},
        timeout=60,
    )
    response.raise_for_status()
    return response


class Driver(driver.Driver):
    """Clusters that exist by name only."""

    @property
    def provides(self):
        return [{'server_type': 'vm', 'os': 'linux', 'coe': 'kubernetes'}]

    def create_cluster(self, context, cluster, cluster_create_timeout):
        body = {'stack_name': cluster.name}
        stack = _call('POST', context, '', body).json()['stack']
        cluster.stack_id = stack['id']
        cluster.api_address = 'https://192.0.2.1:6443'
        cluster.status = fields.ClusterStatus.CREATE_COMPLETE
        for group in cluster.nodegroups:
            group.status = fields.ClusterStatus.CREATE_COMPLETE
            group.save()

    def _change(self, context, cluster, change):
        body = {'change': change}
        _call('PUT', context, f'/{cluster.stack_id}', body)

    def update_cluster(
        self, context, cluster, scale_manager=None, rollback=False
    ):
        count = cluster.default_ng_worker.node_count
        self._change(context, cluster, f'update {count}')

    def resize_cluster(
        self,
        context,
        cluster,
        resize_manager,
        node_count,
        nodes_to_remove,
        nodegroup=None,
    ):
        self._change(context, cluster, f'resize {node_count}')
        nodegroup.status = fields.ClusterStatus.UPDATE_COMPLETE

    def upgrade_cluster(self, context, cluster, *args, **kwargs):
        self._change(context, cluster, 'upgrade')

    def delete_cluster(self, context, cluster):
        _call('DELETE', context, f'/{cluster.stack_id}')

    def create_nodegroup(self, context, cluster, nodegroup):
        self._change(context, cluster, f'add {nodegroup.name}')
        nodegroup.status = fields.ClusterStatus.CREATE_COMPLETE

    def update_nodegroup(self, context, cluster, nodegroup):
        self._change(
            context,
            cluster,
            f'limit {nodegroup.name} {nodegroup.max_node_count}',
        )
        nodegroup.status = fields.ClusterStatus.UPDATE_COMPLETE

    def delete_nodegroup(self, context, cluster, nodegroup):
        self._change(context, cluster, f'remove {nodegroup.name}')
        nodegroup.destroy()

    def create_federation(self, context, federation):
        raise NotImplementedError

    def update_federation(self, context, federation):
        raise NotImplementedError

    def delete_federation(self, context, federation):
        raise NotImplementedError
