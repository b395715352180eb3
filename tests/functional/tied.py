# SPDX-License-Identifier: Apache-2.0
"""Become a command that the kernel kills when its parent ends (a script).

    python -I -S tied.py PARENT_PID PROGRAM [ARGUMENT ...]

A function for :class:`subprocess.Popen` to call after the fork would be
shorter; but a process with threads had better not fork.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1  # linux/prctl.h

if __name__ == '__main__':
    prctl = getattr(ctypes.CDLL(None), 'prctl', None)
    if prctl is not None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() == int(sys.argv[1]):
        os.execv(sys.argv[2], sys.argv[2:])
