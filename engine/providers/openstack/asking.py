# SPDX-License-Identifier: Apache-2.0
"""Errors in the cloud's words, and waiting that ends."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import keystoneauth1.exceptions
import openstack.exceptions
import requests

from engine.providers import base
from vobjects import exceptions
from vobjects.rpc import gate

LOG = logging.getLogger(__name__)

T = TypeVar('T')

#: Characters of a cloud's message that users are shown.
LONGEST = 500


@contextlib.contextmanager
def explained(
    what: str, missing: type[base.NotFound] = base.NotFound
) -> Iterator[None]:
    """Have errors told as those of a provider.

    :param what: is being done, such as 'create the server of node ...'
    :param missing: what is raised for 404
    :raises engine.providers.base.ProviderError: with the cloud's status and
        message, but without its addresses
    """
    try:
        with gate.waiting():
            yield
    except openstack.exceptions.HttpException as error:
        LOG.info('Could not %s: %s', what, error)
        kind = missing if error.status_code == 404 else base.ProviderError
        raise kind(
            f'could not {what}: {_status(error)}: {_message(error)}'
        ) from None
    except keystoneauth1.exceptions.HttpError as error:
        LOG.info('Could not %s: %s', what, error)
        kind = missing if error.http_status == 404 else base.ProviderError
        raise kind(
            f'could not {what}: {error.http_status}: {error.message}'
        ) from None
    except (
        keystoneauth1.exceptions.ClientException,
        requests.RequestException,
    ) as error:
        LOG.warning('Could not %s: %s', what, error)
        raise base.ProviderError(
            f'could not {what}: the cloud does not answer'
            f' ({type(error).__name__})'
        ) from None
    except openstack.exceptions.SDKException as error:
        LOG.info('Could not %s: %s', what, error)
        raise base.ProviderError(
            f'could not {what}: {exceptions.cut(str(error))}'
        ) from None


def checked(response: Any) -> Any:
    """Return a response that is no error.

    :raises openstack.exceptions.HttpException: it is one
    """
    openstack.exceptions.raise_from_response(response)
    return response


def until(
    look: Callable[[], T | None],
    what: str,
    *,
    timeout: float,
    interval: float,
) -> T:
    """Look until something is there, and return it.

    :param what: has to happen, for the message
    :param timeout: seconds
    :raises engine.providers.base.ProviderError: it did not happen
    """
    end = time.monotonic() + timeout
    while True:
        late = time.monotonic() >= end
        found = look()
        if found is not None:
            return found
        if late:
            raise base.ProviderError(f'{what}: not within {timeout:g} seconds')
        with gate.waiting():
            time.sleep(min(interval, max(end - time.monotonic(), 0)))


def _status(error: openstack.exceptions.HttpException) -> str:
    return 'no status' if error.status_code is None else str(error.status_code)


def _message(error: openstack.exceptions.HttpException) -> str:
    """Return what a cloud said, without the address that it was asked at."""
    return str(error.details or error.message or '')[:LONGEST]
