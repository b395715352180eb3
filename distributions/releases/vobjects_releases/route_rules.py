# SPDX-License-Identifier: Apache-2.0
"""Compare the routes of two releases of an HTTP API."""

from __future__ import annotations

from collections.abc import Iterator

from vobjects_releases.findings import Finding, Rule
from vobjects_releases.routes import Routes

KEPT = Rule(
    'ROUTE_KEPT',
    'A route stays while clients of the older release call it.',
)
REQUEST_ACCEPTED = Rule(
    'ROUTE_REQUEST_ACCEPTED',
    'A route requires no parameter that clients of the older release do not'
    ' send.',
)

RULES = (KEPT, REQUEST_ACCEPTED)


def compare(old: Routes, new: Routes) -> Iterator[Finding]:
    """Yield the routes that requests of older clients no longer reach."""
    if not new.routes:
        return
    paths = {path for _, path in new.routes}
    for key, before in sorted(old.routes.items()):
        after = new.routes.get(key)
        if after is not None:
            for name in sorted(after.required - before.required):
                yield Finding(
                    REQUEST_ACCEPTED,
                    after.name,
                    name,
                    f'is required in {after.verb} {after.path}, but clients of'
                    ' the older release may leave it out',
                    after.location,
                )
        elif key[1] not in paths and old.calls(before):
            # Else clients may only call it with other verbs.
            yield Finding(
                KEPT,
                before.name,
                '',
                f'no longer answers {before.verb} {before.path}, which clients'
                ' of the older release call',
                before.location,
            )
