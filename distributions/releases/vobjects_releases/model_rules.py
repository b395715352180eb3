# SPDX-License-Identifier: Apache-2.0
"""Compare the pydantic models of requests and responses of two releases."""

from __future__ import annotations

from collections.abc import Iterator

from vobjects_releases.findings import Finding, Rule
from vobjects_releases.models import Model, Models

NEW_FIELD_OMITTED = Rule(
    'MODEL_NEW_FIELD_OMITTED',
    'A client leaves a new field out of requests to servers that reject'
    ' unknown fields.',
)
REQUEST_ACCEPTED = Rule(
    'MODEL_REQUEST_ACCEPTED',
    'A server accepts the requests of clients of the older release.',
)
RESPONSE_COMPLETE = Rule(
    'MODEL_RESPONSE_COMPLETE',
    'A response has the fields that clients of the older release require, and'
    ' values that they accept.',
)

RULES = (NEW_FIELD_OMITTED, REQUEST_ACCEPTED, RESPONSE_COMPLETE)


def compare(old: Models, new: Models) -> Iterator[Finding]:
    """Yield the documents of each release that the other rejects."""
    yield from _new_requests(old, new)
    yield from _old_requests(old, new)
    yield from _new_responses(old, new)


def _new_requests(old: Models, new: Models) -> Iterator[Finding]:
    for write in new.writes:
        if write.omits or write.model not in old.requests:
            continue
        for name, model in new.reachable(write.model).items():
            before = old.models.get(name)
            if before is None or not before.strict:
                continue
            for field in sorted(model.fields.keys() - before.fields.keys()):
                if field not in write.excluded and not new.rewrites(
                    model, field
                ):
                    yield Finding(
                        NEW_FIELD_OMITTED,
                        new.owner(model, field),
                        field,
                        'is new and sent in'
                        f' {_name(write.model)}, but servers of the older'
                        ' release reject unknown fields',
                        write.location,
                    )


def _old_requests(old: Models, new: Models) -> Iterator[Finding]:
    for root in sorted(new.requests & old.requests):
        for name, model in new.reachable(root).items():
            before = old.models.get(name)
            if before is None or name not in old.reachable(root):
                continue
            for field in sorted(model.fields.keys() - before.fields.keys()):
                if model.fields[field].required:
                    yield _finding(
                        REQUEST_ACCEPTED,
                        new,
                        model,
                        field,
                        f'is required in {_name(root)}, but clients of the'
                        ' older release do not send it',
                    )
    for write in old.writes:
        if write.model in new.requests:
            yield from _removed_from_request(old, new, write.model)


def _removed_from_request(
    old: Models, new: Models, root: str
) -> Iterator[Finding]:
    known = new.reachable(root)
    for name, before in old.reachable(root).items():
        model = known.get(name)
        if model is None or not model.strict:
            continue
        for field in sorted(before.fields.keys() - model.fields.keys()):
            if not new.mentions(model, field):
                yield _finding(
                    REQUEST_ACCEPTED,
                    old,
                    before,
                    field,
                    f'is rejected in {_name(root)}, but clients of the older'
                    ' release send it',
                )


def _new_responses(old: Models, new: Models) -> Iterator[Finding]:
    for root in sorted(new.responses & old.responses):
        for name, before in old.reachable(root).items():
            model = new.models.get(name)
            if model is None or name not in new.reachable(root):
                continue
            for field in sorted(before.fields.keys() - model.fields.keys()):
                if before.fields[field].required:
                    yield _finding(
                        RESPONSE_COMPLETE,
                        old,
                        before,
                        field,
                        f'is missing in {_name(root)}, but clients of the'
                        ' older release require it',
                    )
            for field in sorted(before.fields.keys() & model.fields.keys()):
                added = new.kinds(model, field) - old.kinds(before, field)
                if (
                    added
                    and 'Any' not in added | old.kinds(before, field)
                    and not new.versioned(model, field)
                ):
                    yield _finding(
                        RESPONSE_COMPLETE,
                        new,
                        model,
                        field,
                        f'may be {" or ".join(sorted(added))} in'
                        f' {_name(root)}, which clients of the older release'
                        ' do not expect',
                    )


def _finding(
    rule: Rule, models: Models, model: Model, field: str, text: str
) -> Finding:
    owner = models.owner(model, field)
    return Finding(rule, owner, field, text, model.cls.location)


def _name(qualified: str) -> str:
    return qualified.rpartition('.')[2]
