# SPDX-License-Identifier: Apache-2.0
"""The declaration, and the configuration of all processes."""

import sys

from oslo_config import cfg

from vobjects import Service

SERVICE = Service(
    name='secret-store',
    types=('secret_store.types',),
    history={'1.0': ['Secrets.']},
    error_modules=('secret_store.errors',),
    lock='secret_store',
    contract='secret_store.contract',
)


def configuration():
    """Read the configuration file that the command line names."""
    conf = cfg.ConfigOpts()
    conf.register_opt(cfg.StrOpt('connection'), 'database')
    conf.register_opt(cfg.HostAddressOpt('host', default='127.0.0.1'), 'api')
    conf.register_opt(cfg.PortOpt('port', default=9311), 'api')
    conf(['--config-file', *sys.argv[1:]])
    return conf
