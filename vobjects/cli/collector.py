# SPDX-License-Identifier: Apache-2.0
"""Let the garbage collector skip the modules that a command loads.

Modules, types and options stay until the process ends. To examine them again
and again while they load takes a fifth of the time to start an engine, and
later a pause of a tenth of a second in some requests.
"""

from __future__ import annotations

import gc

#: New objects after which a collection begins, while a command loads. A
#: command that only prints something ends before that.
_WHILE_LOADING = 50_000

_USUAL = gc.get_threshold()


def begin_loading() -> None:
    """Collect garbage rarely, until :func:`end_loading`."""
    gc.set_threshold(_WHILE_LOADING)


def end_loading() -> None:
    """Never examine again what exists now; collect new garbage as usual.

    A server calls this before its first request.
    """
    gc.freeze()
    gc.set_threshold(*_USUAL)
