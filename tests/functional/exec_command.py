# SPDX-License-Identifier: Apache-2.0
"""Script that sets attributes of its process and executes a command.

::

    python -I -S exec_command.py [--parent=PID] [--sandbox] PROGRAM [ARG ...]

``--parent`` has the kernel kill the process when its parent ends. (A
``preexec_fn`` of :class:`subprocess.Popen` is unsafe in a process with
threads.) ``--sandbox`` applies those settings of the systemd units that a
process can set for itself: UMask, NoNewPrivileges, MemoryDenyWriteExecute.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

# linux/prctl.h
PR_SET_PDEATHSIG = 1
PR_SET_NO_NEW_PRIVS = 38
PR_SET_MDWE = 65  # since Linux 6.3; older kernels reject it


def _prctl(option: int, *values: int) -> None:
    getattr(ctypes.CDLL(None), 'prctl', lambda *_: None)(option, *values)


def end_with_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent ends.

    :param parent: ID of the process that has started this one
    """
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    # Tests that run under nohup ignore it, and children inherit that.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if os.getppid() != parent:
        os._exit(0)  # the parent has ended already


def main() -> None:
    """Apply the options and execute the command."""
    command = sys.argv[1:]
    while command[0].startswith('--'):
        option, _, value = command.pop(0).partition('=')
        if option == '--sandbox':
            os.umask(0o077)
            _prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
            _prctl(PR_SET_MDWE, 1, 0, 0, 0)
        else:
            end_with_parent(int(value))
    os.execv(command[0], command)


if __name__ == '__main__':
    main()
