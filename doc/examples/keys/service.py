# SPDX-License-Identifier: Apache-2.0
"""The declaration, and the configuration of all processes."""

from oslo_config import cfg

from vobjects import Service

SERVICE = Service(
    name='keys',
    types=('keys.types',),
    history={'1.0': ['Keys.'], '1.1': ['A note for each key.']},
    error_modules=('keys.errors',),
)


def configuration(file):
    """Read the configuration file of an engine or of the API."""
    conf = cfg.ConfigOpts()
    conf.register_opt(cfg.StrOpt('connection'), 'database')
    conf(['--config-file', file])
    return conf
