# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of cluster sizes: resizing, bounds, health. No database."""

from __future__ import annotations

import dataclasses
import math
import sys

from vobjects.clustering import errors


@dataclasses.dataclass(frozen=True, slots=True)
class Bounds:
    """How many nodes a cluster may have.

    :ivar minimum: fewest
    :ivar maximum: most; negative: as many as :attr:`limit` allows
    :ivar limit: most nodes that any cluster may have (configuration)
    :ivar specified: what a request says of them, the others being the
        cluster's: ``min_size``, ``max_size``
    """

    minimum: int
    maximum: int
    limit: int
    specified: frozenset[str] = frozenset()

    def changed(self, minimum: int | None, maximum: int | None) -> Bounds:
        """Return the bounds that a request leads to; None keeps one."""
        return Bounds(
            self.minimum if minimum is None else minimum,
            self.maximum if maximum is None else maximum,
            self.limit,
            frozenset(
                name
                for name, value in (
                    ('min_size', minimum),
                    ('max_size', maximum),
                )
                if value is not None
            ),
        )

    def clamp(self, size: int) -> int:
        """Return the nearest size within the bounds."""
        if self.maximum >= 0:
            size = min(size, self.maximum)
        return max(size, self.minimum)

    def check(self) -> None:
        """Refuse bounds that no size is within.

        :raises vobjects.clustering.errors.BadRequest: naming both numbers
        """
        if 0 <= self.maximum < self.minimum:
            raise errors.BadRequest(self._crossed())
        for name, value in (
            ('min_size', self.minimum),
            ('max_size', self.maximum),
        ):
            if value > self.limit:
                raise errors.BadRequest(
                    f'The specified {name} ({value}) is greater than the'
                    ' maximum number of nodes allowed per cluster'
                    f' ({self.limit}).'
                )

    def check_present(self, size: int) -> None:
        """Refuse bounds that the present size is not within.

        :raises vobjects.clustering.errors.BadRequest: naming both numbers
        """
        wrong = ''
        if size < self.minimum and 'min_size' in self.specified:
            wrong = f'min_size ({self.minimum}) is greater'
        elif 0 <= self.maximum < size and 'max_size' in self.specified:
            wrong = f'max_size ({self.maximum}) is less'
        if wrong:
            raise errors.BadRequest(
                f'The specified {wrong} than the current desired_capacity'
                f' ({size}) of the cluster.'
            )
        self.check_size(size)

    def check_size(self, size: int) -> None:
        """Refuse a size outside of the bounds.

        :raises vobjects.clustering.errors.BadRequest: naming both numbers
        """
        if size > self.limit:
            raise errors.BadRequest(
                f'The target capacity ({size}) is greater than the maximum'
                f' number of nodes allowed per cluster ({self.limit}).'
            )
        if size < self.minimum:
            raise errors.BadRequest(
                f'The target capacity ({size}) is less than the'
                f' {self._minimum()}.'
            )
        if 0 <= self.maximum < size:
            raise errors.BadRequest(
                f'The target capacity ({size}) is greater than the'
                f' {self._maximum()}.'
            )

    # As in Senlin's messages.

    def _crossed(self) -> str:
        low, high = f'min_size ({self.minimum})', f'max_size ({self.maximum})'
        if 'max_size' not in self.specified:
            return (
                f'The specified {low} is greater than the current {high} of'
                ' the cluster.'
            )
        if 'min_size' not in self.specified:
            return (
                f'The specified {high} is less than the current {low} of the'
                ' cluster.'
            )
        return f'The specified {low} is greater than the specified {high}.'

    def _minimum(self) -> str:
        return f'{self._whose("min_size")} min_size ({self.minimum})'

    def _maximum(self) -> str:
        return f'{self._whose("max_size")} max_size ({self.maximum})'

    def _whose(self, name: str) -> str:
        return 'specified' if name in self.specified else "cluster's"


@dataclasses.dataclass(frozen=True, slots=True)
class Resize:
    """What a resize asks for (api-ref, "Resize a cluster").

    :ivar adjustment_type: None when only the bounds change
    :ivar number: an amount, or percents of the current size
    :ivar min_step: fewest nodes that a percentage moves
    :ivar strict: whether leaving the bounds is refused, or cut short
    """

    adjustment_type: str | None = None
    number: float | None = None
    min_size: int | None = None
    max_size: int | None = None
    min_step: int | None = None
    strict: bool = True

    def check(self) -> None:
        """Refuse parts that do not belong together.

        :raises vobjects.clustering.errors.BadRequest: naming the part
        """
        if self.min_size is not None and self.max_size is not None:
            most = max(self.min_size, self.max_size)
            Bounds(0, -1, most).changed(self.min_size, self.max_size).check()
        if self.adjustment_type is None:
            if self.number is not None:
                raise errors.BadRequest(
                    'Missing adjustment_type value for size adjustment.'
                )
            if self.min_size is None and self.max_size is None:
                raise errors.BadRequest.advised(
                    'Not enough parameters to do resize action.',
                    'Give adjustment_type and number, or min_size, or'
                    ' max_size.',
                )
            return
        if self.number is None or not math.isfinite(self.number):
            raise errors.BadRequest(
                'Missing number value for size adjustment.'
            )
        if self.adjustment_type == 'CHANGE_IN_PERCENTAGE':
            return
        if not float(self.number).is_integer():
            raise errors.BadRequest(
                f"The 'number' ({self.number}) must be an integer for"
                f" adjustment type '{self.adjustment_type}'."
            )
        if self.adjustment_type == 'EXACT_CAPACITY' and self.number < 0:
            raise errors.BadRequest(
                "The 'number' must be non-negative integer for adjustment"
                " type 'EXACT_CAPACITY'."
            )

    def apply(self, current: int, bounds: Bounds) -> tuple[int, Bounds]:
        """Return the size and the bounds that this leads to.

        :param current: the number of nodes there are
        :param bounds: those in force
        :raises vobjects.clustering.errors.BadRequest: not within the bounds
        """
        self.check()
        bounds = bounds.changed(self.min_size, self.max_size)
        bounds.check()
        size = self._size(current)
        if not self.strict:
            size = bounds.clamp(size)
        if self.adjustment_type is None:
            bounds.check_present(size)
        else:
            bounds.check_size(size)
        return size, bounds

    def _size(self, current: int) -> int:
        if self.adjustment_type is None or self.number is None:
            return current
        if self.adjustment_type == 'EXACT_CAPACITY':
            return int(self.number)
        if self.adjustment_type == 'CHANGE_IN_CAPACITY':
            return current + int(self.number)
        return current + self._share_of(current)

    def _share_of(self, current: int) -> int:
        """Return how many nodes a percentage is: at least one, if any."""
        assert self.number is not None
        exact = share(abs(self.number), current)
        step = math.ceil(exact) if exact < 1 else math.floor(exact)
        if self.number:
            step = max(step, self.min_step or 0)
        return -step if self.number < 0 else step


def share(percents: float, of: int) -> float:
    """Return so many percents of a number of nodes.

    No user means more than a float can be, but somebody may say so.
    """
    return min(percents * of / 100, sys.float_info.max)


def health(
    operation: str, active: int, desired: int, bounds: Bounds
) -> tuple[str, str]:
    """Return the status of a cluster, and the reason of it.

    :param operation: what was just done, such as ``CLUSTER_RESIZE``
    :param active: how many of its nodes are ACTIVE
    """
    if active < bounds.minimum:
        return 'ERROR', (
            f'{operation}: number of active nodes ({active}) is below'
            f' min_size ({bounds.minimum}).'
        )
    if active < desired:
        return 'WARNING', (
            f'{operation}: number of active nodes ({active}) is below'
            f' desired_capacity ({desired}).'
        )
    if 0 <= bounds.maximum < active:
        return 'WARNING', (
            f'{operation}: number of active nodes ({active}) is above'
            f' max_size ({bounds.maximum}).'
        )
    return 'ACTIVE', (
        f'{operation}: number of active nodes ({active}) is equal or above'
        f' desired_capacity ({desired}).'
    )
