# SPDX-License-Identifier: Apache-2.0
"""Import oslo.messaging with threads chosen, and without eventlet.

oslo.versionedobjects imports oslo.messaging, which imports oslo.service,
which loads eventlet unless a backend was chosen. The hook only sets the
default: a process that calls ``init_backend`` itself keeps its choice.

With threads chosen, futurist still loads eventlet wherever it is installed:
a quarter of the time that a process of ours took to start, and a warning at
each fork. It finds none here, unless the process has loaded it before.
"""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Iterator


@contextlib.contextmanager
def _eventlet_hidden() -> Iterator[None]:
    """Have ``import eventlet`` fail, if nobody has imported it yet."""
    if 'eventlet' in sys.modules:
        yield
        return
    # None there is how Python marks what cannot be imported.
    sys.modules['eventlet'] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules['eventlet']


with _eventlet_hidden():
    from oslo_service import backend

    backend.register_backend_default_hook(
        lambda: backend.BackendType.THREADING
    )
    with warnings.catch_warnings():
        # It warns whoever imports it, used or not.
        warnings.filterwarnings(
            'ignore', message='eventletutils module is deprecated'
        )
        import oslo_messaging  # noqa: F401 - imported for this side effect
