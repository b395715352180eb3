# SPDX-License-Identifier: Apache-2.0
"""Compute cluster sizes, their limits, and the resulting health status."""

from __future__ import annotations

import dataclasses
import math
import sys

from vobjects import exceptions
from vobjects.clustering import errors
from vobjects.clustering.requests import clusters


@dataclasses.dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of a cluster's size.

    :ivar minimum: fewest nodes
    :ivar maximum: most nodes; negative for as many as :attr:`limit` allows
    :ivar limit: most nodes that any cluster may have (configuration)
    :ivar specified: limits that a request sets, ``min_size`` or ``max_size``;
        the others are the cluster's own
    """

    minimum: int
    maximum: int
    limit: int
    specified: frozenset[str] = frozenset()

    def changed(self, minimum: int | None, maximum: int | None) -> Bounds:
        """Return the limits as changed by a request; None keeps a limit."""
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

    def largest(self) -> int:
        """Return the largest size that all limits allow."""
        return (
            self.limit if self.maximum < 0 else min(self.maximum, self.limit)
        )

    def clamp(self, size: int) -> int:
        """Return the nearest size between minimum and maximum."""
        if self.maximum >= 0:
            size = min(size, self.maximum)
        return max(size, self.minimum)

    def check(self) -> None:
        """Reject limits that no size can satisfy.

        :raises vobjects.clustering.errors.BadRequest: names both numbers
        """
        if 0 <= self.maximum < self.minimum:
            raise errors.BadRequest(self._crossed_message())
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
        """Reject limits that the current size does not satisfy.

        :raises vobjects.clustering.errors.BadRequest: names both numbers
        """
        problem = ''
        if size < self.minimum and 'min_size' in self.specified:
            problem = f'min_size ({self.minimum}) is greater'
        elif 0 <= self.maximum < size and 'max_size' in self.specified:
            problem = f'max_size ({self.maximum}) is less'
        if problem:
            raise errors.BadRequest(
                f'The specified {problem} than the current desired_capacity'
                f' ({exceptions.cut(size)}) of the cluster.'
            )
        self.check_size(size)

    def check_limit(self, size: int) -> None:
        """Reject a size above the limit for every cluster.

        :raises vobjects.clustering.errors.BadRequest: names both numbers
        """
        if size > self.limit:
            raise errors.BadRequest(
                f'{_target_text(size)} is greater than the maximum number of'
                f' nodes allowed per cluster ({self.limit}).'
            )

    def check_size(self, size: int) -> None:
        """Reject a size outside of the limits.

        :raises vobjects.clustering.errors.BadRequest: names both numbers
        """
        self.check_limit(size)
        if size < self.minimum:
            raise errors.BadRequest(
                f'{_target_text(size)} is less than the'
                f' {self._minimum_text()}.'
            )
        if 0 <= self.maximum < size:
            raise errors.BadRequest(
                f'{_target_text(size)} is greater than the'
                f' {self._maximum_text()}.'
            )

    # Senlin's messages

    def _crossed_message(self) -> str:
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

    def _minimum_text(self) -> str:
        return f'{self._origin("min_size")} min_size ({self.minimum})'

    def _maximum_text(self) -> str:
        return f'{self._origin("max_size")} max_size ({self.maximum})'

    def _origin(self, name: str) -> str:
        return 'specified' if name in self.specified else "cluster's"


def _target_text(size: int) -> str:
    return f'The target capacity ({exceptions.cut(size)})'


@dataclasses.dataclass(frozen=True, slots=True)
class Resize:
    """Parameters of a resize request (api-ref, "Resize a cluster").

    :ivar adjustment_type: None when only the limits change
    :ivar number: a number of nodes, or a percentage of the current size
    :ivar min_step: minimum number of nodes for a percentage
    :ivar strict: whether to reject a size outside of the limits rather than
        clamp it
    """

    adjustment_type: str | None = None
    number: float | None = None
    min_size: int | None = None
    max_size: int | None = None
    min_step: int | None = None
    strict: bool = True

    @classmethod
    def from_request(cls, request: clusters.ClusterResizeRequest) -> Resize:
        """Return the parameters in a request."""
        return cls(
            adjustment_type=request.get('adjustment_type'),
            number=request.get('number'),
            min_size=request.get('min_size'),
            max_size=request.get('max_size'),
            min_step=request.get('min_step'),
            strict=request.get('strict') is not False,
        )

    def check(self) -> None:
        """Reject inconsistent parameters.

        :raises vobjects.clustering.errors.BadRequest: names the parameter
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
        """Return the new size and limits of a cluster.

        :param current: its current number of nodes
        :param bounds: its current limits
        :raises vobjects.clustering.errors.BadRequest: the limits do not allow
            the size
        """
        self.check()
        bounds = bounds.changed(self.min_size, self.max_size)
        bounds.check()
        size = self._new_size(current)
        if not self.strict:
            size = bounds.clamp(size)
        if self.adjustment_type is None:
            bounds.check_present(size)
        else:
            bounds.check_size(size)
        return size, bounds

    def _new_size(self, current: int) -> int:
        if self.adjustment_type is None or self.number is None:
            return current
        if self.adjustment_type == 'EXACT_CAPACITY':
            return int(self.number)
        if self.adjustment_type == 'CHANGE_IN_CAPACITY':
            return current + int(self.number)
        return current + self._change_in_percent(current)

    def _change_in_percent(self, current: int) -> int:
        """Convert the percentage to a signed number of nodes.

        A result below one node is rounded up, any other down. ``min_step`` is
        the smallest change.
        """
        assert self.number is not None
        exact = percentage_of(abs(self.number), current)
        step = math.ceil(exact) if exact < 1 else math.floor(exact)
        if self.number:
            step = max(step, self.min_step or 0)
        return -step if self.number < 0 else step


def percentage_of(percentage: float, number: int) -> float:
    """Return a percentage of a number of nodes.

    The result is limited to the largest float, since the percentage may be
    huge.
    """
    return min(percentage * number / 100, sys.float_info.max)


def cluster_status(
    operation: str, active: int, desired: int, bounds: Bounds
) -> tuple[str, str]:
    """Return the status of a cluster, and the reason for it.

    :param operation: the operation just completed, such as ``CLUSTER_RESIZE``
    :param active: number of its ACTIVE nodes
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
