# SPDX-License-Identifier: Apache-2.0
"""What the author of a test gives: how to handle processes, and hooks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol


class Fleet(Protocol):
    """Real processes, empty before the first is started.

    Inherit from it for the defaults: hooks that do nothing. Whatever a
    method raises is a failure of the plan at this step.
    """

    def start(self, process: str, release: str) -> None:
        """Start a process at a release; return when it does its work."""
        ...

    def stop(self, process: str) -> None:
        """Stop a process in order, as an operator would; wait for its end."""
        ...

    def kill(self, process: str) -> None:
        """Kill a process, as ``kill -9`` does."""
        raise NotImplementedError('the terms have kills; define kill()')

    def pause(self, process: str, seconds: float) -> None:
        """Freeze a process for a time, and let it go on."""
        raise NotImplementedError('the terms have pauses; define pause()')

    def redeliver(self, which: int) -> None:
        """Deliver a message again that was delivered before.

        :param which: a number to pick it by, modulo what was kept
        """
        raise NotImplementedError('the terms redeliver; define redeliver()')

    def before(self) -> None:
        """Do something while all processes run their first release."""

    def mixed(self) -> None:
        """Do something after a step, while releases are mixed."""

    def after(self) -> None:
        """Do something when all processes run their last release."""

    def invariants(self) -> Mapping[str, Callable[[], None]]:
        """Return what must hold after each step: name -> raises if not."""
        return {}
