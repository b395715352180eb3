# SPDX-License-Identifier: Apache-2.0
"""Prometheus metrics: requests by version and client, and durations.

======================================== ===================================
vobjects_api_uses_total                  requests by version, method, route,
                                         and agent
vobjects_api_request_duration_seconds    histogram by method, route, status
vobjects_api_refusals_total              rejected requests by error code
vobjects_api_downgrades_total            requests downgraded for an older
                                         engine, by type
vobjects_api_served_maximum_minor        minor of the highest version served
                                         now; -1: no engine is known
vobjects_api_newest_minor                minor of this build's highest version
vobjects_api_counting_since_seconds      Unix time at which counting began
======================================== ===================================

The number of series is bounded, whatever clients send; see
``vobjects.metric_series``. A route is the template that the application
sets in the environ (:data:`ROUTE`) for a request that matches it, never a
path. An agent is the first product of ``User-Agent`` without its version. Only
a limited number of agents are distinguished, and the others are :data:`OTHER`.
A new agent counts only after a response without an error, so that
unauthenticated clients cannot exhaust the limit.

If ``PROMETHEUS_MULTIPROC_DIR`` names a shared directory, several processes
count together. Set the variable and create the directory before this module is
imported, because prometheus_client chooses at that time where it stores
values. The counts of a process stay in the directory after it ends, and no
value depends on which processes are alive.
"""

from __future__ import annotations

import functools
import logging
import os
import re
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import prometheus_client
from prometheus_client import multiprocess

from vobjects.metric_series import OTHER, BoundedSeries
from vobjects.microversions import discovery, shared_values
from vobjects.microversions.version_policy import (
    ERROR_CODE,
    MICROVERSION,
    ROUTE,
    VersionPolicy,
)

if TYPE_CHECKING:
    from _typeshed.wsgi import (
        StartResponse,
        WSGIApplication,
        WSGIEnvironment,
    )

LOG = logging.getLogger(__name__)

#: Environment variable of prometheus_client.
DIRECTORY = 'PROMETHEUS_MULTIPROC_DIR'

#: Default number of agents that each process distinguishes.
MAX_AGENTS = 64

#: Label of requests whose ``User-Agent`` is missing or does not follow RFC
#: 9110.
UNNAMED = '(none)'

USES = 'vobjects_api_uses'
SINCE = 'vobjects_api_counting_since_seconds'

_METHODS = frozenset(
    ('DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT')
)

# A product is a token with an optional version (RFC 9110, 10.1.5).
_PRODUCT = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,64})(?:[/ \t]|\Z)")

_BUCKETS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class UsageMetrics:
    """The metrics of one process.

    :param policy: version policy of the service
    :param max_agents: number of agents to distinguish
    """

    def __init__(
        self,
        policy: VersionPolicy,
        *,
        max_agents: int = MAX_AGENTS,
    ) -> None:
        if DIRECTORY in os.environ:
            shared_values.install()
        self.policy = policy
        self._is_full = False
        self._registry = registry = prometheus_client.CollectorRegistry()
        self._max_agents = max_agents
        self._agents: set[str] = set()
        self._discovery = discovery.paths(policy)
        counter = functools.partial(
            prometheus_client.Counter, registry=registry
        )
        gauge = functools.partial(prometheus_client.Gauge, registry=registry)
        self._uses = BoundedSeries(
            counter(
                USES,
                'Requests by version, route and client.',
                ('version', 'method', 'route', 'agent'),
            ),
            kept=1,
        )
        self._durations = BoundedSeries(
            prometheus_client.Histogram(
                'vobjects_api_request_duration_seconds',
                'Time from the arrival of a request to its response.',
                ('method', 'route', 'status'),
                buckets=_BUCKETS,
                registry=registry,
            )
        )
        self._refusals = BoundedSeries(
            counter(
                'vobjects_api_refusals',
                'Rejected requests, by error code.',
                ('code',),
            )
        )
        self._downgrades = BoundedSeries(
            counter(
                'vobjects_api_downgrades',
                'Requests downgraded for an older engine, by type.',
                ('type',),
            )
        )
        self._maximum = gauge(
            'vobjects_api_served_maximum_minor',
            'Minor of the highest version served now; -1: no engine is known.',
            multiprocess_mode='mostrecent',
        )
        gauge(
            'vobjects_api_newest_minor',
            'Minor of the highest version of this build.',
            multiprocess_mode='mostrecent',
        ).set(policy.maximum.minor)
        # The minimum of all processes, because counts of ended processes
        # remain.
        gauge(
            SINCE,
            'Unix time at which counting began.',
            multiprocess_mode='min',
        ).set(time.time())

    def record(
        self, environ: WSGIEnvironment, status: str, seconds: float
    ) -> None:
        """Count a request that has been answered.

        :param environ: WSGI environ of the request
        :param status: HTTP status, three digits
        :param seconds: duration of the request
        """
        self._try(self._count, environ, status, seconds)

    def _try(self, count: Callable[..., None], *arguments: Any) -> None:
        """Count, or log once that the disk is full, and once that it is not.

        A request must not fail because nothing can count it.
        """
        try:
            count(*arguments)
        except OSError as error:
            if not self._is_full:
                LOG.warning('New metrics are not counted: %s', error)
            self._is_full = True
            return
        if self._is_full:
            LOG.warning('New metrics are counted again')
            self._is_full = False

    def _count(
        self, environ: WSGIEnvironment, status: str, seconds: float
    ) -> None:
        method = environ.get('REQUEST_METHOD', '')
        if method not in _METHODS:
            method = OTHER
        route = environ.get(ROUTE, OTHER)
        self._durations[method, route, status].observe(seconds)
        error_code = environ.get(ERROR_CODE)
        if error_code is not None:
            self._refusals[error_code,].inc()
        version = environ.get(MICROVERSION)
        if route is OTHER or version is None or route in self._discovery:
            return
        agent = self._agent(environ.get('HTTP_USER_AGENT', ''), status)
        self._uses[str(version), method, route, agent].inc()

    def count_downgrade(self, type_name: str) -> None:
        """Count a request that was downgraded for an older engine."""
        self._try(lambda: self._downgrades[type_name,].inc())

    def _agent(self, header: str, status: str) -> str:
        product = _PRODUCT.match(header)
        if product is None:
            return UNNAMED
        name = product[1]
        if name in self._agents:
            return name
        # Concurrent threads may exceed the limit by one agent each.
        if status >= '400' or len(self._agents) >= self._max_agents:
            return OTHER
        self._agents.add(name)
        return name

    def text(self, maximum: int) -> tuple[str, bytes]:
        """Return the metrics of all processes in Prometheus' text format.

        :param maximum: minor of the highest version served now, or -1
        :returns: media type and content
        """
        self._maximum.set(maximum)
        registry = self._registry
        if DIRECTORY in os.environ:
            registry = prometheus_client.CollectorRegistry()
            collect: Any = multiprocess.MultiProcessCollector  # not typed
            collect(registry)
        return (
            prometheus_client.CONTENT_TYPE_LATEST,
            prometheus_client.generate_latest(registry),
        )


class UsageMiddleware:
    """WSGI middleware that counts requests; place it outermost.

    :param app: the application, which sets the route in the environ
    :param usage: the metrics
    """

    def __init__(self, app: WSGIApplication, usage: UsageMetrics) -> None:
        self.app = app
        self.usage = usage

    def __call__(
        self, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        start = time.perf_counter()
        status = ''
        is_returned = False

        def start_counted(
            line: str, headers: list[tuple[str, str]], exc_info: Any = None, /
        ) -> Callable[[bytes], object]:
            nonlocal status
            write = start_response(line, headers, exc_info)
            if is_returned and not status:
                record(line[:3])
            status = line[:3]
            return write

        def record(status: str) -> None:
            self.usage.record(environ, status, time.perf_counter() - start)

        response = self.app(environ, start_counted)
        is_returned = True
        if status:  # otherwise start_counted() records the request later
            record(status)
        return response
