# SPDX-License-Identifier: Apache-2.0
"""Connect to the cloud.

All threads of the engine share one keystoneauth session, which holds the
token, the catalog and the connections. Each user that the engine acts for has
a separate session. openstacksdk's objects must not be shared, so each thread
creates its own.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable
from typing import Any, Self, TypeVar

import openstack.config
import openstack.connection
import requests
from keystoneauth1 import exceptions as auth_exceptions
from keystoneauth1 import loading
from keystoneauth1 import session as ks_session
from openstack import exceptions as sdk_exceptions
from openstack.config import cloud_region
from oslo_config import cfg

from engine.providers import base
from engine.providers.openstack import conf, sdk_errors
from vobjects import exceptions, tls_files
from vobjects.rpc import concurrency_limit

UNAVAILABLE = 503

#: Status codes after which a request is repeated.
RETRIED = [429, UNAVAILABLE]

SECTION = conf.GROUP.name

T = TypeVar('T')


class CloudConfigError(exceptions.VobjectsError):
    """Raised when the connection to the cloud is not configured correctly."""


@dataclasses.dataclass(frozen=True, slots=True)
class Cloud:
    """One region of the cloud.

    :ivar options: the options of ``[provider_openstack]``
    :ivar region: openstacksdk's description of the region
    """

    options: Any
    region: cloud_region.CloudRegion
    local: threading.local = dataclasses.field(
        default_factory=threading.local, compare=False
    )

    @classmethod
    def configured(cls, configuration: cfg.ConfigOpts) -> Self:
        """Return the configured region.

        It sends no request to the cloud before the first operation.

        :raises CloudConfigError: the configuration is missing or incomplete
        """
        options = configuration[SECTION]
        try:
            if options.cloud:
                region = openstack.config.OpenStackConfig().get_one(
                    cloud=options.cloud,
                    region_name=options.region_name,
                    api_timeout=options.request_timeout,
                )
            else:
                region = _from_section(configuration, options)
            # Create the session once, rather than in each of the first
            # threads.
            region.get_session()
        except (
            sdk_exceptions.SDKException,
            auth_exceptions.ClientException,
        ) as error:
            raise CloudConfigError(f'[{SECTION}]: {error}') from None
        region.config.setdefault('connect_retries', options.retries)
        region.config.setdefault('status_code_retries', options.retries)
        return cls(options, region)

    def in_region(self, name: str) -> Cloud:
        """Return another region."""
        session = self.region.get_session()
        config = {**self.region.config, 'region_name': name}
        region = cloud_region.CloudRegion(
            name=self.region.name, session=session, config=config
        )
        return Cloud(self.options, region)

    def as_user(self, auth: Any) -> Cloud:
        """Return the same region, accessed for another user.

        :param auth: a keystoneauth plugin
        """
        own_session: Any = self.region.get_session()
        # A separate session keeps cookies and other state of users apart.
        session = _UserSession(
            auth=auth,
            verify=own_session.verify,
            cert=own_session.cert,
            timeout=own_session.timeout,
        )
        config = {
            key: value
            for key, value in self.region.config.items()
            if key not in ('auth', 'auth_type')
        }
        region = cloud_region.CloudRegion(
            name=self.region.name, session=session, config=config
        )
        return Cloud(self.options, region)

    def authenticate(self) -> None:
        """Get a token, unless there is a valid one.

        :raises engine.providers.base.ProviderError: authentication failed
        """
        with sdk_errors.converted('authenticate'):
            session: Any = self.region.get_session()
            session.auth.get_access(session)

    def close(self) -> None:
        """Close idle connections to the cloud."""
        session: Any = self.region.get_session()
        session.session.close()

    def regions(self) -> list[str]:
        """Return the names of the regions in the catalog.

        :raises engine.providers.base.ProviderError: authentication failed
        """
        with sdk_errors.converted('list the regions'):
            session: Any = self.region.get_session()
            access = session.auth.get_access(session)
            return sorted(
                {
                    name
                    for service in access.service_catalog.catalog
                    for endpoint in service['endpoints']
                    for name in (endpoint.get('region_id'),)
                    if name
                }
            )

    # API clients for the current thread

    @property
    def compute(self) -> Any:
        return self._service('compute')

    @property
    def image(self) -> Any:
        return self._service('image')

    @property
    def network(self) -> Any:
        return self._service('network')

    def send(
        self, method: str, service: str, path: str, **options: Any
    ) -> requests.Response:
        """Send a request to a service, and return the response.

        :param service: openstacksdk's name of the service, such as ``compute``
        :raises openstack.exceptions.HttpException: the response is an error
        """
        response: requests.Response = self._service(service).request(
            path, method, **options
        )
        sdk_exceptions.raise_from_response(response)
        return response

    def wait_until(
        self,
        poll: Callable[[], T | None],
        event: str,
        timeout: float | None = None,
    ) -> T:
        """Call a function until it returns a value other than None.

        :param event: the awaited event, for the message
        :param timeout: seconds to wait; None: ``server_timeout``
        :raises engine.providers.base.ProviderError: the time is up
        """
        seconds = self.options.server_timeout if timeout is None else timeout
        end = time.monotonic() + seconds
        while True:
            is_last = time.monotonic() >= end
            result = poll()
            if result is not None:
                return result
            remaining = end - time.monotonic()
            if is_last:
                raise base.ProviderError(
                    f'{event}: not within {seconds:g} seconds'
                )
            with concurrency_limit.released():
                time.sleep(min(self.options.poll_interval, max(remaining, 0)))

    def _service(self, name: str) -> Any:
        clients: dict[str, Any] = self.local.__dict__
        if name not in clients:
            if 'connection' not in clients:
                clients['connection'] = openstack.connection.Connection(
                    config=self.region
                )
            service = getattr(clients['connection'], name)
            service.retriable_status_codes = RETRIED
            service.connect_retry_delay = self.options.retry_delay
            service.status_code_retry_delay = self.options.retry_delay
            clients[name] = service
        return clients[name]


class _UserSession(ks_session.Session):
    """A session of a user, which checks the permissions after status 503.

    While a token is valid but its user has lost a role or was disabled,
    Keystone refuses to validate it with 403, and keystonemiddleware in the
    service that received it answers 503 as if Keystone were down.
    """

    def request(self, *arguments: Any, **options: Any) -> Any:
        """Send a request.

        :raises engine.providers.base.NotAuthorized: the service may no longer
            act for the user
        """
        try:
            response = super().request(*arguments, **options)
        except auth_exceptions.ServiceUnavailable:
            self._check_permissions()
            raise
        if response.status_code == UNAVAILABLE:
            self._check_permissions()
        return response

    def _check_permissions(self) -> None:
        auth: Any = self.auth
        auth.invalidate()
        auth.get_access(self)


def _from_section(
    configuration: cfg.ConfigOpts, options: Any
) -> cloud_region.CloudRegion:
    """Return the region described by keystoneauth's options."""
    loading.register_auth_conf_options(configuration, SECTION)
    loading.register_session_conf_options(configuration, SECTION)
    if not options.auth_type:
        raise CloudConfigError(
            f"[{SECTION}]: set 'cloud', or 'auth_type' with the options of"
            ' that type'
        )
    tls_files.check(f'[{SECTION}]', options)
    auth = loading.load_auth_from_conf_options(configuration, SECTION)
    session = loading.load_session_from_conf_options(
        configuration, SECTION, auth=auth
    )
    if session.timeout is None:
        session.timeout = options.request_timeout
    return cloud_region.from_session(
        session,
        region_name=options.region_name,
        interface=options.interface,
    )
