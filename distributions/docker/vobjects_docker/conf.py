# SPDX-License-Identifier: Apache-2.0
"""The options of ``[provider_docker]``."""

from __future__ import annotations

from oslo_config import cfg

from engine import conf
from vobjects import number_options

GROUP = cfg.OptGroup(
    'provider_docker',
    'Containers, which run on the Docker daemons of other nodes, or, with'
    ' [engine] provider = docker, on one daemon',
)

OPTIONS = [
    cfg.StrOpt(
        'url',
        default='unix:///var/run/docker.sock',
        help='URL of the daemon for [engine] provider = docker:'
        ' unix:///PATH or tcp://HOST:PORT. All engines need access to it. The'
        ' options about TLS apply to tcp only.',
    ),
    cfg.StrOpt(
        'network',
        default='bridge',
        regex='^[a-zA-Z0-9][a-zA-Z0-9_.-]*$',
        help='Docker network of the containers of [engine] provider = docker;'
        ' "none" isolates them.',
    ),
    cfg.ListOpt(
        'images',
        default=['*'],
        help='Images that tenants may run with [engine] provider = docker, as'
        ' patterns with "*" and "?". The daemon pulls missing images.',
    ),
    cfg.IntOpt(
        'max_memory',
        default=512,
        min=6,
        help='Maximum memory of a container of [engine] provider = docker, in'
        ' MiB. It applies to profiles without "memory".',
    ),
    cfg.FloatOpt(
        'max_cpus',
        default=1.0,
        min=0.01,
        help='Maximum number of processors of a container of [engine] provider'
        ' = docker. It applies to profiles without "cpus".',
    ),
    cfg.IntOpt(
        'max_processes',
        default=256,
        min=1,
        help='Maximum number of processes and threads in a container of'
        ' [engine] provider = docker.',
    ),
    cfg.FloatOpt(
        'timeout',
        default=60.0,
        min=0.1,
        help='Timeout of a request to a Docker daemon, in seconds.',
    ),
    cfg.FloatOpt(
        'pull_timeout',
        default=600.0,
        min=0.1,
        help='Seconds within which a host must pull an image.',
    ),
    cfg.ListOpt(
        'forbidden_networks',
        default=conf.FORBIDDEN_NETWORKS,
        help='Networks in which engines do not call Docker daemons. Tenants'
        ' choose the address of a host with an output of their stack; see'
        ' [hooks] forbidden_networks.',
    ),
    cfg.BoolOpt(
        'tls',
        default=False,
        help='Use TLS for the connections to all Docker daemons. Container'
        ' profiles must then set the TLS port, usually 2376.',
    ),
    cfg.StrOpt(
        'tls_ca_file',
        help='PEM file with the CA certificates that may sign the'
        ' certificates of daemons. If unset, the CA certificates that this'
        ' machine trusts are used.',
    ),
    cfg.StrOpt(
        'tls_cert_file',
        help='PEM file with the client certificate that engines present to'
        ' daemons.',
    ),
    cfg.StrOpt(
        'tls_key_file',
        help='PEM file with the private key of tls_cert_file.',
    ),
    cfg.BoolOpt(
        'tls_verify',
        default=True,
        help='Verify that a trusted CA signed the certificate of a daemon and'
        ' that it matches the address of the host. Without verification, an'
        ' attacker on the network can impersonate the daemon.',
    ),
]

number_options.restrict(OPTIONS)


def list_opts() -> list[tuple[cfg.OptGroup, list[cfg.Opt]]]:
    """Return (group, options) pairs for oslo.config."""
    return [(GROUP, OPTIONS)]
