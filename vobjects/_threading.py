# SPDX-License-Identifier: Apache-2.0
"""Import oslo.messaging with threads chosen, and without eventlet's noise.

oslo.versionedobjects imports oslo.messaging, which imports oslo.service,
which loads eventlet unless a backend was chosen. The hook only sets the
default: a process that calls ``init_backend`` itself keeps its choice.
"""

from __future__ import annotations

import warnings

from oslo_service import backend

backend.register_backend_default_hook(lambda: backend.BackendType.THREADING)

with warnings.catch_warnings():
    # What these two import warns whoever imports it, used or not.
    for message in (
        r'\s*Eventlet is deprecated',
        'eventletutils module is deprecated',
    ):
        warnings.filterwarnings('ignore', message=message)
    import oslo_messaging  # noqa: F401 - imported for this side effect
