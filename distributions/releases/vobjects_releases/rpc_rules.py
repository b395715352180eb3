# SPDX-License-Identifier: Apache-2.0
"""Compare the RPC calls that one release sends with what the other accepts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from vobjects_releases.findings import Finding, Rule
from vobjects_releases.rpc import (
    Endpoint,
    Rpc,
    Send,
    Signature,
    is_compatible,
)
from vobjects_releases.rpc_paths import Version

OLD_CALL_FAILS = Rule(
    'RPC_OLD_CALL_ACCEPTED',
    'An RPC method accepts the arguments that clients of the older release'
    ' send.',
)
NEW_CALL_FAILS = Rule(
    'RPC_NEW_CALL_ACCEPTED',
    'A new argument or method is sent with a new RPC version, or only after'
    ' can_send_version.',
)
VERSION_UNSUPPORTED = Rule(
    'RPC_VERSION_SUPPORTED',
    'A client sends no newer RPC version than the server of its release has.',
)
METHOD_REMOVED = Rule(
    'RPC_METHOD_KEPT',
    'An RPC method stays while clients of the older release call it.',
)

STEP_OPTIONAL = Rule(
    'RPC_NEW_STEP_OPTIONAL',
    'What works in the older release does not always call a new RPC method'
    ' that the servers of the older release lack.',
)

RULES = (
    OLD_CALL_FAILS,
    NEW_CALL_FAILS,
    VERSION_UNSUPPORTED,
    METHOD_REMOVED,
    STEP_OPTIONAL,
)


def compare(old: Rpc, new: Rpc) -> Iterator[Finding]:
    """Yield the calls of each release that the other does not accept."""
    for send in old.sends:
        yield from _old_call(old, new, send)
    for send in new.sends:
        yield from _new_call(old, new, send)
        yield from _own_version(new, send)
    yield from _new_steps(old, new)


def _old_call(old: Rpc, new: Rpc, send: Send) -> Iterator[Finding]:
    """Check a call of the older release to the newer servers."""
    served = _accepting(old, send)
    if not served or not send.reaches(_version(old, served, send)):
        return
    present = _same(served, old, new, send)
    if not present:
        if send.caller in old.called:
            yield from _removed(served, new, send)
        return
    if _may_reject(present, send):
        return
    problems = _problems(new, present, send)
    if problems:
        yield _finding(
            OLD_CALL_FAILS,
            send,
            problems,
            f'{{}}, but clients of the older release send {_sent(send)}',
            present[0].cls.location,
        )


def _new_call(old: Rpc, new: Rpc, send: Send) -> Iterator[Finding]:
    """Check a call of the newer release to the older servers."""
    served = _accepting(new, send)
    if not served or not send.versions:
        return
    present = _same(served, new, old, send)
    version = _version(old, present, send)
    if version is None or not send.reaches(version):
        return
    usable = [item for item in send.versions if is_compatible(version, item)]
    if not usable:
        return
    at = f'in a call with version {_text(usable[0])}'
    if present:
        problems = _problems(old, present, send) or _ignored(
            [old.signature(item, send.method) for item in present],
            [new.signature(item, send.method) for item in served],
            send,
        )
        if problems:
            yield _finding(
                NEW_CALL_FAILS,
                send,
                problems,
                f'the method of the older release {{}} {at}',
                send.location,
            )
    elif send.caller in new.called and any(
        send.reaches(peer) and is_compatible(peer, usable[0])
        for peer in _without_method(served, old)
    ):
        yield Finding(
            NEW_CALL_FAILS,
            send.method,
            '',
            f'does not exist in the older release, but is sent {at}',
            send.location,
        )


def _own_version(new: Rpc, send: Send) -> Iterator[Finding]:
    """Check the version of a call to the servers of its own release."""
    versions = [item.version for item in _accepting(new, send)]
    if not versions or not send.versions or send.below:
        return
    if all(
        version is not None
        and not any(is_compatible(version, item) for item in send.versions)
        for version in versions
    ):
        newest = max(filter(None, versions))
        if newest[0] == max(send.versions)[0]:
            yield Finding(
                VERSION_UNSUPPORTED,
                send.method,
                '',
                f'is sent with version {_text(max(send.versions))}, but the'
                f' servers of the release have {_text(newest)}',
                send.location,
            )


def _new_steps(old: Rpc, new: Rpc) -> Iterator[Finding]:
    """Check what methods of both releases call in the newer one only."""
    known = {send.caller for send in old.sends}
    needed = {send.caller: send for send in new.sends}
    for send in new.sends:
        peers = set(_without_method(_accepting(new, send), old))
        if (
            not (peers and send.versions)
            or send.caller in known
            or any(
                is_compatible(peer, version)
                for peer in peers
                for version in send.versions
            )
        ):
            needed.pop(send.caller, None)
    before = old.steps(certain=False) if needed else {}
    for name, steps in new.steps(certain=True).items() if needed else ():
        for step in sorted(steps & needed.keys() - before.get(name, steps)):
            send = needed[step]
            yield Finding(
                STEP_OPTIONAL,
                send.method,
                '',
                f'is always called by {name}, but servers of the older release'
                f' do not support version {_text(max(send.versions))}',
                send.location,
            )


def _without_method(served: list[Endpoint], old: Rpc) -> Iterator[Version]:
    """Yield the versions of servers of the older release without a method."""
    for endpoint in served:
        same = old.tree.classes.get(endpoint.name)
        version = old.version(same) if same is not None else None
        if version is not None:
            yield version


def _removed(
    served: list[Endpoint], new: Rpc, send: Send
) -> Iterator[Finding]:
    """Yield a finding for a method whose class stays, without the method."""
    for endpoint in served:
        same = new.tree.classes.get(endpoint.name)
        if same is not None and endpoint.version is not None:
            version = new.version(same)
            if version is not None and version[0] == endpoint.version[0]:
                yield Finding(
                    METHOD_REMOVED,
                    send.method,
                    '',
                    'was removed, but clients of the older release call it',
                    same.location,
                )
                return


def _accepting(rpc: Rpc, send: Send) -> list[Endpoint]:
    """Return the endpoints that accept a call."""
    return [
        endpoint
        for endpoint in rpc.endpoints(send.method)
        if not rpc.signature(endpoint, send.method).problems(send.arguments)
    ]


def _same(
    endpoints: Iterable[Endpoint], known: Rpc, other: Rpc, send: Send
) -> list[Endpoint]:
    """Return the same endpoints in the other release.

    A class may have moved to another module, where the release of the
    endpoints has no class of its name.

    :param known: the release of the endpoints
    """
    candidates = other.endpoints(send.method)
    names = {item.name for item in endpoints}
    found = [item for item in candidates if item.name in names]
    if found:
        return found
    names = {item.cls.name for item in endpoints}
    return [
        item
        for item in candidates
        if item.cls.name in names and item.name not in known.tree.classes
    ]


def _may_reject(endpoints: list[Endpoint], send: Send) -> bool:
    """Return whether the servers may have another major version than a call.

    Upgrades across major versions are the service's documented limit. A
    client that selects one of several versions selects its arguments, too.
    """
    versions = [item.version for item in endpoints if item.version]
    if not send.versions:
        return bool(versions)
    return bool(versions) and not all(
        any(version[0] == sent[0] for version in versions)
        for sent in send.versions
    )


def _problems(
    rpc: Rpc, endpoints: list[Endpoint], send: Send
) -> tuple[str, ...]:
    """Return why no endpoint accepts a call; empty: one does."""
    found = [
        rpc.signature(endpoint, send.method).problems(send.arguments)
        for endpoint in endpoints
    ]
    return () if () in found else min(found, key=len)


def _ignored(
    before: list[Signature], after: list[Signature], send: Send
) -> tuple[str, ...]:
    """Return which arguments of a call only the newer servers read."""
    if any(item.reads_any for item in before):
        return ()
    added = send.arguments.names.intersection(*(it.names for it in after))
    read = frozenset().union(*(item.names for item in before))
    return tuple(f'ignores {name!r}' for name in sorted(added - read))


def _version(
    rpc: Rpc, endpoints: Iterable[Endpoint], send: Send
) -> Version | None:
    """Return the version of servers, or else of the client of a release."""
    versions = [item.version for item in endpoints if item.version]
    if versions:
        return max(versions)
    return rpc.client_versions.get(send.client)


def _finding(
    rule: Rule,
    send: Send,
    problems: tuple[str, ...],
    template: str,
    location: str,
) -> Finding:
    field = problems[0].partition("'")[2].rstrip("'")
    return Finding(
        rule,
        send.method,
        field,
        template.format(' and '.join(problems)),
        location,
    )


def _sent(send: Send) -> str:
    names = ', '.join(sorted(send.arguments.names)) or 'no arguments'
    versions = ' or '.join(map(_text, send.versions))
    return f'{names} with version {versions}' if versions else names


def _text(version: Version) -> str:
    return '.'.join(map(str, version))
