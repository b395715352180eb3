# SPDX-License-Identifier: Apache-2.0
"""Calls between the RPC clients and servers of two releases."""

from __future__ import annotations

import pytest

from .conftest import Compare

OLD_CALL, NEW_CALL = 'RPC_OLD_CALL_ACCEPTED', 'RPC_NEW_CALL_ACCEPTED'

SERVER = """
import oslo_messaging as messaging

class Manager:
    target = messaging.Target(version='{version}')

    def resize(self, context, {parameters}):
        pass
"""

CLIENT = """
import oslo_messaging as messaging

class Api:
    BASE = '1.0'

    def __init__(self):
        target = messaging.Target(topic='shop', version='1.0')
        self.client = messaging.get_rpc_client(target)

    def resize(self, context, size, force=False):
        {body}
"""


def release(version: str, parameters: str, *body: str) -> dict[str, str]:
    return {
        'manager.py': SERVER.format(version=version, parameters=parameters),
        'rpcapi.py': CLIENT.format(body='\n        '.join(body)),
    }


OLD = release(
    '1.1',
    'size',
    "cctxt = self.client.prepare(version='1.1')",
    "cctxt.call(context, 'resize', size=size)",
)

GUARDED = (
    "version = '1.2'",
    'arguments = dict(size=size, force=force)',
    'if not self.client.can_send_version(version):',
    "    arguments.pop('force')",
    "    version = '1.1'",
    'cctxt = self.client.prepare(version=version)',
    "cctxt.call(context, 'resize', **arguments)",
)


@pytest.mark.parametrize(
    ('parameters', 'expected'),
    [
        ('size', set()),
        ('size, force=False', set()),
        ('size, *, force=False', set()),
        ('size, force', {(OLD_CALL, 'resize', 'force')}),
        ('size, *, force', {(OLD_CALL, 'resize', 'force')}),
        ('amount=0', {(OLD_CALL, 'resize', 'size')}),
        ('**arguments', set()),
    ],
)
def test_compare_server_that_changes_arguments(
    compare: Compare, parameters: str, expected: set[tuple[str, str, str]]
) -> None:
    new = {**OLD, **release('1.2', parameters)}
    new['rpcapi.py'] = CLIENT.format(body='pass')

    assert compare(OLD, new) == expected


def test_compare_server_without_context_reports_the_first_argument(
    compare: Compare,
) -> None:
    new = {**OLD}
    new['manager.py'] = new['manager.py'].replace('context, ', '')

    assert (OLD_CALL, 'resize', 'size') in compare(OLD, new)


def test_compare_other_major_version_is_no_finding(compare: Compare) -> None:
    new = release(
        '2.0',
        'size, force',
        "cctxt = self.client.prepare(version='2.0')",
        "cctxt.call(context, 'resize', size=size, force=force)",
    )

    assert compare(OLD, new) == set()


@pytest.mark.parametrize(
    'body',
    [
        GUARDED,
        (
            "cctxt = self.client.prepare(version='1.2')",
            "cctxt.call(context, 'resize', size=size, force=force)",
        ),
        (
            "if self.client.can_send_version('1.2'):",
            "    self.client.prepare(version='1.2').call(",
            "        context, 'resize', size=size, force=force)",
            'else:',
            "    self.client.prepare(version='1.1').call(",
            "        context, 'resize', size=size)",
        ),
        (
            "arguments = {'size': size}",
            "version = '1.1'",
            "if force and self.client.can_send_version('1.2'):",
            "    arguments['force'] = force",
            "    version = '1.2'",
            'cctxt = self.client.prepare(version=version)',
            "cctxt.cast(context, 'resize', **arguments)",
        ),
        (
            "arguments = {'size': size, 'force': force}",
            "version = self.newest('1.2', '1.1')",
            "if version == '1.1':",
            "    del arguments['force']",
            'cctxt = self.client.prepare(version=version)',
            "cctxt.cast(context, 'resize', **arguments)",
        ),
        (
            "if not self.client.can_send_version('1.2'):",
            '    raise RuntimeError()',
            "cctxt = self.client.prepare(version='1.1')",
            "cctxt.cast(context, 'resize', size=size, force=force)",
        ),
    ],
)
def test_compare_client_that_guards_new_argument_is_no_finding(
    compare: Compare, body: tuple[str, ...]
) -> None:
    assert compare(OLD, release('1.2', 'size, force=False', *body)) == set()


@pytest.mark.parametrize(
    'body',
    [
        (
            "cctxt = self.client.prepare(version='1.1')",
            "cctxt.call(context, 'resize', size=size, force=force)",
        ),
        (
            'cctxt = self.client.prepare(version=self.BASE)',
            "cctxt.call(context, 'resize', size=size, force=force)",
        ),
        (
            'cctxt = self.client.prepare()',
            "cctxt.cast(context, 'resize', size=size, force=force)",
        ),
        (
            "if not self.client.can_send_version('1.2'):",
            "    cctxt = self.client.prepare(version='1.1')",
            'else:',
            "    cctxt = self.client.prepare(version='1.2')",
            "cctxt.call(context, 'resize', size=size, force=force)",
        ),
    ],
    ids=['literal', 'constant', 'target', 'version only'],
)
def test_compare_client_that_sends_new_argument_to_old_server(
    compare: Compare, body: tuple[str, ...]
) -> None:
    found = compare(OLD, release('1.2', 'size, force=False', *body))

    assert found == {(NEW_CALL, 'resize', 'force')}


def test_compare_client_with_two_targets_knows_their_versions(
    compare: Compare,
) -> None:
    body = "self.other.prepare().call(context, 'resize', size=size)"
    target = "other = messaging.Target(topic='shop', version='1.1')"
    old = release('1.1', 'size', body)
    old['rpcapi.py'] = old['rpcapi.py'].replace(
        'self.client = ',
        f'{target}\n        self.other = messaging.get_rpc_client(other)\n'
        '        self.client = ',
    )
    new = {**old, **release('1.2', 'amount')}

    assert (OLD_CALL, 'resize', 'size') in compare(old, new)


def test_compare_wrapper_of_client_keeps_its_own_parameters(
    compare: Compare,
) -> None:
    wrapper = """
    def _call(self, method, timeout, version, **arguments):
        cctxt = self.client.prepare(version=version, timeout=timeout)
        return cctxt.call(self.context, method, **arguments)
"""
    body = "self._call('resize', 60, version=self.BASE, {})"
    old = release('1.1', 'size', body.format('size=size'))
    new = release(
        '1.1',
        'size, force=False',
        body.format('size=size, force=force'),
    )
    for files in (old, new):
        files['rpcapi.py'] += wrapper

    assert compare(old, new) == {(NEW_CALL, 'resize', 'force')}


def test_compare_client_with_newer_version_than_its_server(
    compare: Compare,
) -> None:
    new = release(
        '1.1',
        'size',
        "cctxt = self.client.prepare(version='1.2')",
        "cctxt.call(context, 'resize', size=size)",
    )

    assert compare(OLD, new) == {('RPC_VERSION_SUPPORTED', 'resize', '')}


CALLER = """
from shop import rpcapi

def run(context):
    rpcapi.Api().resize(context, 1)
    other_api = rpcapi.Api()
    other_api.resize(context, 1)
"""


@pytest.mark.parametrize(
    ('caller', 'expected'),
    [(CALLER, {('RPC_METHOD_KEPT', 'resize', '')}), ('', set())],
)
def test_compare_removed_method_is_found_if_a_client_calls_it(
    compare: Compare, caller: str, expected: set[tuple[str, str, str]]
) -> None:
    old = {**OLD, 'caller.py': caller}
    new = {'manager.py': OLD['manager.py'].replace('resize', 'scale')}

    assert compare(old, new) == expected


OTHER_MANAGER = SERVER.format(version='1.1', parameters='amount')


@pytest.mark.parametrize(
    ('before', 'after', 'expected'),
    [
        (
            {'manager.py': OLD['manager.py']},
            {'moved.py': OTHER_MANAGER},
            {(OLD_CALL, 'resize', 'size')},
        ),
        (
            {
                'manager.py': OLD['manager.py'],
                'other.py': OTHER_MANAGER.replace('resize', 'scale'),
            },
            {'other.py': OTHER_MANAGER},
            set(),
        ),
    ],
)
def test_compare_class_of_same_name_is_the_same_only_if_it_moved(
    compare: Compare,
    before: dict[str, str],
    after: dict[str, str],
    expected: set[tuple[str, str, str]],
) -> None:
    old = {'rpcapi.py': OLD['rpcapi.py'], **before}

    assert compare(old, after) == expected


@pytest.mark.parametrize(
    ('library', 'expected'),
    [
        ('import oslo_messaging', {(OLD_CALL, 'resize', 'size')}),
        ('from shop.common import rpc', {(OLD_CALL, 'resize', 'size')}),
        ('import glanceclient', set()),
    ],
)
def test_compare_client_without_messages_sends_no_rpc(
    compare: Compare, library: str, expected: set[tuple[str, str, str]]
) -> None:
    source = f"""
{library}

class Client:
    def resize(self, context):
        client = self._client.prepare(version='1.1')
        client.call(context, 'resize', size=1)
"""
    old = {'manager.py': OLD['manager.py'], 'client.py': source}
    new = {'manager.py': OTHER_MANAGER}

    assert compare(old, new) == expected


@pytest.mark.parametrize(
    ('server', 'sent', 'called', 'found'),
    [
        ('1.1', '1.1', 'rpcapi.stop(context)', True),
        ('1.2', '1.1', 'rpcapi.stop(context)', True),
        ('1.2', '1.2', 'rpcapi.stop(context)', False),
        ('2.0', '2.0', 'rpcapi.stop(context)', False),
        ('1.1', '1.1', 'stop(context)', False),
    ],
)
def test_compare_new_method_needs_a_new_version(
    compare: Compare, server: str, sent: str, called: str, found: bool
) -> None:
    new = release(
        server,
        'size',
        'pass',
        '',
        f"cctxt = self.client.prepare(version='{sent}')",
        "cctxt.call(context, 'stop')",
    )
    new['manager.py'] += '\n    def stop(self, context): pass'
    new['rpcapi.py'] = new['rpcapi.py'].replace('def resize', 'def stop')
    new['api.py'] = f'def stop(rpcapi, context): {called}'

    assert compare({**OLD, 'api.py': ''}, new) == (
        {(NEW_CALL, 'stop', '')} if found else set()
    )


@pytest.mark.parametrize(
    ('parameters', 'read', 'version', 'found'),
    [
        ('size, force=False', 'pass', '1.1', True),
        ('size, force=False', 'pass', '1.2', False),
        ('size, force=False', 'log(others)', '1.1', False),
        ('size, **more', 'pass', '1.1', False),
    ],
)
def test_compare_new_argument_that_the_old_server_ignores(
    compare: Compare, parameters: str, read: str, version: str, found: bool
) -> None:
    old = {**OLD, **release('1.1', 'size, **others', 'pass')}
    old['manager.py'] = old['manager.py'].replace('pass', read)
    new = release(
        version,
        parameters,
        f"cctxt = self.client.prepare(version='{version}')",
        "cctxt.call(context, 'resize', size=size, force=force)",
    )

    assert compare(old, new) == (
        {(NEW_CALL, 'resize', 'force')} if found else set()
    )


@pytest.mark.parametrize(
    ('before', 'after', 'version', 'found'),
    [
        ('save()', 'rpcapi.stop(context)', '1.2', True),
        ('save()', 'with lock(): rpcapi.stop(context)', '1.2', True),
        ('save()', 'if rpcapi.can_stop(): rpcapi.stop(context)', '1.2', False),
        ('save()', 'bus.stop(context)', '1.2', False),
        ('save()', 'rpcapi.stop(context)', '1.1', False),
        (
            'if new(): rpcapi.stop(context)',
            'rpcapi.stop(context)',
            '1.2',
            False,
        ),
    ],
)
def test_compare_function_that_always_calls_a_new_method(
    compare: Compare, before: str, after: str, version: str, found: bool
) -> None:
    caller = """
class Orders:
    def stop(self, rpcapi, context):
        {}
"""
    new = release(
        '1.2',
        'size',
        f"cctxt = self.client.prepare(version='{version}')",
        "cctxt.call(context, 'stop')",
    )
    new['manager.py'] += '\n    def stop(self, context): pass'
    new['rpcapi.py'] = new['rpcapi.py'].replace('def resize', 'def stop')
    new['api.py'] = caller.format(after)
    old = {**OLD, 'api.py': caller.format(before)}
    findings = compare(old, new)

    assert (('RPC_NEW_STEP_OPTIONAL', 'stop', '') in findings) == found
