# SPDX-License-Identifier: Apache-2.0
"""What ``vobjects up`` tells the user when the service is ready."""

from __future__ import annotations

import pathlib
import sys

from vobjects.cli import terminal

_READY = """\
{title} (ready after {seconds:.1f} s)

  look at it: {url}/ui

  try, in another shell:
{commands}

  state and logs are in {state}{loopback}
  Ctrl-C stops everything"""

_VERSION = "-H 'OpenStack-API-Version: clustering 1.14'"

#: [api] auth_strategy -> commands that work with it.
_COMMANDS = {
    'none': (
        'curl -s {url}/v1/profile-types {version}',
        '{openstack} --os-auth-type none --os-endpoint {url} cluster list',
        '{python} -c "{script}"',
    ),
    # Without /v1, openstacksdk omits it in requests: it applies discovery only
    # to the endpoint of auth type "none".
    'http_basic': (
        'curl -s -u USER:PASSWORD {url}/v1/profile-types {version}',
        '{openstack} --os-auth-type http_basic --os-username USER'
        ' --os-password PASSWORD --os-endpoint {url}/v1 cluster list',
    ),
    # With OS_CLOUD, or OS_AUTH_URL and the like, in the environment.
    'keystone': (
        'curl -s {url}/v1/profile-types {version}'
        ' -H "X-Auth-Token: $({openstack} token issue -f value -c id)"',
        '{openstack} service create --name senlin clustering',
        '{openstack} endpoint create clustering public {url}',
        '{openstack} cluster list',
    ),
}

_LOOPBACK = """
  no authentication: webhooks and poll URLs may call this machine"""

_SCRIPT = (
    "import openstack; c = openstack.connect(auth_type='none',"
    " endpoint='{url}'); print(list(c.clustering.clusters()))"
)


def text(
    screen: terminal.Terminal,
    url: str,
    home: pathlib.Path,
    seconds: float,
    strategy: str,
    *,
    is_loopback_allowed: bool,
) -> str:
    """Return the text for a user whose service is ready.

    :param url: the root of the API
    :param home: the state directory
    :param seconds: duration of the start
    :param strategy: ``[api] auth_strategy``
    :param is_loopback_allowed: whether webhooks may call this machine
    """
    return _READY.format(
        title=screen.styled('good', f'the clustering API is at {url}'),
        seconds=seconds,
        url=url,
        commands='\n'.join(f'    {line}' for line in commands(strategy, url)),
        state=home,
        loopback=_LOOPBACK if is_loopback_allowed else '',
    )


def commands(strategy: str, url: str) -> list[str]:
    """Return shell commands that work with a running API.

    :param strategy: ``[api] auth_strategy``
    :param url: the root of the API
    """
    return [
        command.format(
            url=url,
            version=_VERSION,
            openstack=pathlib.Path(sys.executable).with_name('openstack'),
            python=sys.executable,
            script=_SCRIPT.format(url=url),
        )
        for command in _COMMANDS.get(strategy, ())
    ]
