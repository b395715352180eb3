# SPDX-License-Identifier: Apache-2.0
"""Metrics with a bounded number of series: :class:`BoundedSeries`.

prometheus_client keeps each series until the process ends, in memory and in
the file that processes share. A label that a client or a peer can choose would
fill both.
"""

from __future__ import annotations

from typing import Any

#: Maximum number of series of each metric in each process.
MAX_SERIES = 4096

#: Maximum length of a label, in characters.
MAX_LABEL = 255

#: Label of series beyond the limits.
OTHER = '(other)'


class BoundedSeries(dict[tuple[str, ...], Any]):
    """The series of a metric by the values of its labels.

    Values beyond the limits share one series, with the labels :data:`OTHER`. A
    lookup takes a tenth of the time of ``labels()``.

    :param metric: metric of prometheus_client
    :param limit: maximum number of series besides the shared one
    :param kept: number of labels, from the first, with values that come from a
        closed set and which the shared series keep
    """

    def __init__(
        self, metric: Any, limit: int = MAX_SERIES, kept: int = 0
    ) -> None:
        super().__init__()
        self._metric = metric
        self._limit = limit
        self._kept = kept

    def __missing__(self, labels: tuple[str, ...]) -> Any:
        """Return a new series, or the shared one."""
        # Concurrent threads may exceed the limit by one series each.
        if len(self) >= self._limit or max(map(len, labels)) > MAX_LABEL:
            others = [OTHER] * (len(labels) - self._kept)
            return self._metric.labels(*labels[: self._kept], *others)
        series = self[labels] = self._metric.labels(*labels)
        return series
