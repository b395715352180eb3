# SPDX-License-Identifier: Apache-2.0
"""The provider ``docker``: containers on one Docker daemon, nothing else."""

from __future__ import annotations

from typing import cast

from oslo_config import cfg

from engine import storage
from engine.providers import base
from vobjects_docker import local


class DockerProvider(base.Provider):
    """The daemon of ``[provider_docker] url``.

    It sends no request to the daemon before the first operation.

    :raises vobjects_docker.local.UrlError: the URL is not valid
    :raises vobjects.exceptions.TlsConfigError: the TLS options
        are not valid
    """

    def __init__(
        self, conf: cfg.ConfigOpts, target: storage.Database | None = None
    ) -> None:
        self.servers = cast(base.Servers, _Missing('servers'))
        self.stacks = cast(base.Stacks, _Missing('stacks'))
        self.containers = local.LocalContainers(conf)


class _Missing(base.Unavailable):
    """Resources that the provider does not have: finds none, creates none.

    A node whose creation has failed can therefore be deleted.
    """

    def __init__(self, noun: str) -> None:
        super().__init__(
            f'the provider docker has no {noun}; use a profile of the type'
            ' container.docker.local-1.0'
        )

    def find(self, key: str) -> None:
        """Return None."""

    def delete_related(self, key: str) -> None:
        """Do nothing."""
