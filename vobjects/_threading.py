# SPDX-License-Identifier: Apache-2.0
"""Import oslo.messaging with the threading backend, without eventlet.

oslo.versionedobjects imports oslo.messaging, which imports oslo.service,
which loads eventlet unless a backend has been selected. The hook sets only
the default: a process that calls ``init_backend`` itself keeps its choice.

A process whose threads eventlet has replaced keeps oslo.service's default,
eventlet.

Even with the threading backend, futurist loads eventlet wherever it is
installed. That import takes a quarter of a process's start-up time and emits
a warning at each fork. This module hides eventlet from futurist, unless the
process has already imported it.
"""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Iterator


@contextlib.contextmanager
def _eventlet_hidden() -> Iterator[None]:
    """Make ``import eventlet`` fail, unless it is already imported."""
    if 'eventlet' in sys.modules:
        yield
        return
    # None in sys.modules marks a module that cannot be imported.
    sys.modules['eventlet'] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules['eventlet']


def _has_green_threads() -> bool:
    patcher = sys.modules.get('eventlet.patcher')
    return patcher is not None and patcher.is_monkey_patched('thread')


with _eventlet_hidden():
    from oslo_service import backend

    if not _has_green_threads():
        backend.register_backend_default_hook(
            lambda: backend.BackendType.THREADING
        )
    with warnings.catch_warnings():
        # eventletutils emits this warning on import, even if it is not used.
        warnings.filterwarnings(
            'ignore', message='eventletutils module is deprecated'
        )
        import oslo_messaging  # noqa: F401 - imported for this side effect
