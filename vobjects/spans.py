# SPDX-License-Identifier: Apache-2.0
"""Whether this process records spans of OpenTelemetry."""

from __future__ import annotations

import sys


def are_recorded() -> bool:
    """Return whether a tracer provider has been set.

    ``opentelemetry-instrument`` sets one when a process starts. That the SDK
    has been imported is no sign: oslo.middleware does so if it is installed.
    Without OpenTelemetry, nothing of it is imported.
    """
    trace = sys.modules.get('opentelemetry.trace')
    return trace is not None and not isinstance(
        trace.get_tracer_provider(), trace.ProxyTracerProvider
    )
