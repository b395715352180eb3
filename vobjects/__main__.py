# SPDX-License-Identifier: Apache-2.0
"""Run the ``vobjects`` command, also as ``python -m vobjects``."""

from __future__ import annotations

import signal
import sys


def main() -> int:
    """Run the command line of this process.

    Ctrl-C raises KeyboardInterrupt only while the command runs. Before and
    after that, while Python imports modules and exits, it ends the process at
    once: there is nothing to clean up, and Python would print a traceback.

    :returns: the exit code
    """
    handler = signal.getsignal(signal.SIGINT)
    # A shell starts its background jobs with SIGINT ignored.
    handled = handler is signal.default_int_handler
    if handled:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from vobjects.cli import collector, main

    try:
        if handled:
            signal.signal(signal.SIGINT, handler)
        collector.begin_loading()
        return main.main()
    except KeyboardInterrupt:
        return main.INTERRUPTED
    finally:
        if handled:
            signal.signal(signal.SIGINT, signal.SIG_DFL)


if __name__ == '__main__':
    sys.exit(main())
