# SPDX-License-Identifier: Apache-2.0
"""Calls of addresses that users name: bounded, and not everywhere."""

from __future__ import annotations

import ipaddress
import socket
import threading
import urllib.parse
from collections.abc import Callable, Sequence
from typing import TypeVar

from oslo_config import cfg

from vobjects import exceptions

Result = TypeVar('Result')

#: Calls of one process that are under way: an answer that is sent byte by
#: byte keeps a thread, and those must not become ever more.
_CALLS = threading.BoundedSemaphore(128)


class OutgoingError(Exception):
    """A call was not made, or took too long; the message is for users."""


class ConfigError(exceptions.VobjectsError):
    """A bad value of ``forbidden_networks``."""


def check(conf: cfg.ConfigOpts, group: str) -> None:
    """Refuse ``[group] forbidden_networks`` that are none.

    :raises ConfigError: naming one
    """
    try:
        for network in conf[group].forbidden_networks:
            ipaddress.ip_network(network)
    except ValueError as error:
        raise ConfigError(f'[{group}] forbidden_networks: {error}') from None


def refuse_forbidden(networks: Sequence[str], url: str, what: str) -> None:
    """Refuse to call where operators do not want anything to be called.

    :param networks: as CIDR; see :func:`check`
    :param what: is called, such as ``the webhook``, for messages
    :raises OutgoingError: it is in one of the networks, or nowhere
    """
    host = urllib.parse.urlsplit(url).hostname or ''
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise OutgoingError(f'the host of {what} is unknown') from None
    forbidden = [ipaddress.ip_network(network) for network in networks]
    for *_, address in found:
        ip = ipaddress.ip_address(str(address[0]).partition('%')[0])
        if any(ip in network for network in forbidden):
            raise OutgoingError(f'{what} is in a forbidden network')


def within(seconds: float, call: Callable[[], Result], what: str) -> Result:
    """Return what a call returns, and wait no longer than it may take.

    A timeout of requests is for each read: an answer that comes byte by byte
    would keep the caller for as long as its sender likes.

    :param what: is called, for messages
    :raises OutgoingError: it took too long
    """
    if not _CALLS.acquire(blocking=False):
        raise OutgoingError('too many calls are under way')
    results: list[Result] = []
    errors: list[Exception] = []

    def run() -> None:
        try:
            results.append(call())
        except Exception as error:  # noqa: BLE001 - raised where it is awaited
            errors.append(error)
        finally:
            _CALLS.release()

    thread = threading.Thread(target=run, name='outgoing', daemon=True)
    thread.start()
    thread.join(seconds)
    for error in list(errors):
        raise error
    if not results:
        raise OutgoingError(f'{what} did not answer within {seconds} seconds')
    return results[0]
