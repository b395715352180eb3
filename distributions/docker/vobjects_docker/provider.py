# SPDX-License-Identifier: Apache-2.0
"""The provider ``docker``: containers on one Docker daemon, nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, cast

from oslo_config import cfg

from engine.db import database
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
        self, conf: cfg.ConfigOpts, target: database.Database | None = None
    ) -> None:
        self.servers = cast(base.Servers, _Missing('servers'))
        self.stacks = cast(base.Stacks, _Missing('stacks'))
        self.containers = local.LocalContainers(conf)


class _Missing:
    """Resources that the provider does not have: finds none, creates none.

    A node whose creation has failed can therefore be deleted.
    """

    def __init__(self, noun: str) -> None:
        self._noun = noun

    def find(self, key: str) -> None:
        """Return None."""

    def delete_related(self, key: str) -> None:
        """Do nothing."""

    def __getattr__(self, name: str) -> Callable[..., NoReturn]:
        def fail(*arguments: Any, **options: Any) -> NoReturn:
            raise base.ProviderError(
                f'the provider docker has no {self._noun}; use a profile of'
                ' the type container.docker.local-1.0'
            )

        return fail
