# SPDX-License-Identifier: Apache-2.0
"""Become a command under what the systemd units forbid (a script).

    python -I -S confined.py PROGRAM [ARGUMENT ...]

Of their settings it has those that a process can set for itself, and that a
new dependency could break: UMask, NoNewPrivileges, MemoryDenyWriteExecute.
"""

from __future__ import annotations

import ctypes
import os
import sys

# linux/prctl.h
PR_SET_NO_NEW_PRIVS = 38
PR_SET_MDWE = 65  # since Linux 6.3; an older one refuses it

if __name__ == '__main__':
    os.umask(0o077)
    prctl = getattr(ctypes.CDLL(None), 'prctl', None)
    if prctl is not None:
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        prctl(PR_SET_MDWE, 1, 0, 0, 0)
    os.execv(sys.argv[1], sys.argv[1:])
