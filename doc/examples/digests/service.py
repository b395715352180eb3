# SPDX-License-Identifier: Apache-2.0
"""The declaration, and the configuration of all processes."""

from oslo_config import cfg

from vobjects import Service

SERVICE = Service(
    name='digests',
    types=('digests.types',),
    history={'1.0': ['Digests.'], '1.1': ['The algorithm of a digest.']},
)


def configuration(file):
    """Read the configuration file of an engine or of the API."""
    conf = cfg.ConfigOpts()
    conf.register_opt(cfg.StrOpt('connection'), 'database')
    conf(['--config-file', file])
    return conf
