# SPDX-License-Identifier: Apache-2.0
"""Convert errors of the cloud, and repeat requests."""

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
from vobjects.rpc import concurrency_limit

LOG = logging.getLogger(__name__)

T = TypeVar('T')

#: Errors because of a response that another cloud would not send. They are
#: converted, too, so that the caller deletes the resources it has created. The
#: error of text that is not JSON is also a RequestException.
UNEXPECTED = (LookupError, TypeError, ValueError, AttributeError)

#: Maximum length of a cloud's message that users see.
MAX_MESSAGE_LENGTH = 500


@contextlib.contextmanager
def converted(
    description: str, missing: type[base.NotFound] = base.NotFound
) -> Iterator[None]:
    """Convert the errors of a block to ProviderError.

    :param description: the operation for messages, such as 'create the server
        of node ...'
    :param missing: the exception for status code 404
    :raises engine.providers.base.ProviderError: with the cloud's status code
        and message, but without its URLs
    """
    try:
        with concurrency_limit.released():
            yield
    except openstack.exceptions.HttpException as error:
        LOG.info('Could not %s: %s', description, error)
        kind = missing if error.status_code == 404 else base.ProviderError
        raise kind(
            f'could not {description}: {_status(error)}{_message(error)}'
        ) from None
    except keystoneauth1.exceptions.HttpError as error:
        LOG.info('Could not %s: %s', description, error)
        kind = missing if error.http_status == 404 else base.ProviderError
        raise kind(
            f'could not {description}: {error.http_status}:'
            f' {str(error.message)[:MAX_MESSAGE_LENGTH]}'
        ) from None
    except UNEXPECTED as error:
        LOG.exception(
            'Could not %s: unexpected response of the cloud', description
        )
        raise base.ProviderError(
            f'could not {description}: unexpected response of the cloud'
            f' ({type(error).__name__}: {exceptions.cut(str(error))})'
        ) from None
    except (
        keystoneauth1.exceptions.ClientException,
        requests.RequestException,
    ) as error:
        LOG.warning('Could not %s: %s', description, error)
        raise base.ProviderError(
            f'could not {description}: the cloud does not answer'
            f' ({type(error).__name__})'
        ) from None
    except openstack.exceptions.SDKException as error:
        LOG.info('Could not %s: %s', description, error)
        raise base.ProviderError(
            f'could not {description}: {exceptions.cut(str(error))}'
        ) from None


def create_once(
    options: Any, request: Callable[[], T], find: Callable[[], T | None]
) -> T:
    """Create a resource, and repeat the request only if it had no effect.

    :param options: the options of ``[provider_openstack]``
    :param request: sends the request, without repeating it, and returns the
        resource
    :param find: returns the resource, if it exists
    :raises keystoneauth1.exceptions.RetriableConnectionFailure: no request got
        a response, and the resource does not exist
    """
    for attempt in range(options.retries + 1):
        try:
            return request()
        except keystoneauth1.exceptions.RetriableConnectionFailure:
            # The cloud may have received the request.
            if (found := find()) is not None:
                return found
            if attempt == options.retries:
                raise
            with concurrency_limit.released():
                time.sleep(options.retry_delay * 2**attempt)
    raise AssertionError  # the last attempt returns or raises


def _status(error: openstack.exceptions.HttpException) -> str:
    # openstacksdk raises it itself if it does not find a name.
    return '' if error.status_code is None else f'{error.status_code}: '


def _message(error: openstack.exceptions.HttpException) -> str:
    """Return a cloud's message in one line, without the request's URL."""
    text = ' '.join(str(error.details or error.message or '').split())
    return text[:MAX_MESSAGE_LENGTH]
