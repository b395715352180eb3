# SPDX-License-Identifier: Apache-2.0
"""The interface that the author of an upgrade test implements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol


class Fleet(Protocol):
    """A fleet of real processes, empty at first.

    Inherit from it for the defaults: hooks that do nothing. Any error of a
    method fails the plan at the current step.
    """

    def start(self, process: str, release: str) -> None:
        """Start a process at a release; return when it is ready."""
        ...

    def stop(self, process: str) -> None:
        """Stop a process gracefully, and wait for its end."""
        ...

    def kill(self, process: str) -> None:
        """Kill a process, like ``kill -9``."""
        raise NotImplementedError('plans have kill steps: define kill()')

    def pause(self, process: str, seconds: float) -> None:
        """Suspend a process for a number of seconds, and resume it."""
        raise NotImplementedError('plans have pause steps: define pause()')

    def redeliver(self, message: int) -> None:
        """Deliver an earlier message again.

        :param message: selects the message, modulo the number of recorded
            messages
        """
        raise NotImplementedError('plans redeliver: define redeliver()')

    def before(self) -> None:
        """Run while all processes run their first release."""

    def mixed(self) -> None:
        """Run after each step, while releases are mixed."""

    def after(self) -> None:
        """Run when all processes run their last release."""

    def invariants(self) -> Mapping[str, Callable[[], None]]:
        """Return the checks to run after each step.

        :returns: name of the invariant -> function that raises if it is
            violated
        """
        return {}
