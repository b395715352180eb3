# SPDX-License-Identifier: Apache-2.0
"""The declaration, and the configuration of all processes."""

import sys

from oslo_config import cfg

from vobjects import Service

SERVICE = Service(
    name='cluster-infra',
    types=('cluster_infra.types',),
    history={'1.1': ['Cluster templates and clusters.']},
    error_modules=('cluster_infra.errors',),
    lock='cluster_infra',
    contract='cluster_infra.contract',
    topic='cluster-infra-conductor',
)


def configuration():
    """Read the configuration file that the command line names."""
    conf = cfg.ConfigOpts()
    conf.register_opt(cfg.StrOpt('connection'), 'database')
    conf.register_opt(cfg.HostAddressOpt('host', default='127.0.0.1'), 'api')
    conf.register_opt(cfg.PortOpt('port', default=9511), 'api')
    conf(['--config-file', *sys.argv[1:]])
    return conf
