# SPDX-License-Identifier: Apache-2.0
"""Behaviour of every queue service."""

from __future__ import annotations

import pytest

from engine import queue_commands
from engine.queues import base
from tests import sdk_warnings
from tests.unit.engine.conftest import url_of
from tests.unit.engine.engine_harness import Harness
from tests.unit.engine.queues import fake
from vobjects import exceptions

pytestmark = sdk_warnings.IGNORED


def bodies(service: base.Queues, queue: str = 'q') -> list[object]:
    return [message.body for message in service.claim('p', queue).messages]


def test_message_is_claimed_once_until_it_is_released(
    service: base.Queues,
) -> None:
    service.create('p', 'q')
    service.create('p', 'q')
    for number in range(3):
        service.post('p', 'q', {'n': number})
    claim = service.claim('p', 'q')
    first, *others = claim.messages
    # Messages of the same millisecond have no order.
    assert {first.body['n'], *(each.body['n'] for each in others)} == {0, 1, 2}
    assert bodies(service) == []
    service.remove('p', 'q', first.id, claim.id)
    service.remove('p', 'q', first.id, claim.id)
    service.release('p', 'q', claim.id)
    assert bodies(service) == [message.body for message in others]


def test_deleted_queue_has_no_messages(service: base.Queues) -> None:
    service.post('p', 'q', {})
    service.delete('p', 'q')
    service.delete('p', 'q')
    assert bodies(service) == []


def test_queue_without_messages_returns_none(service: base.Queues) -> None:
    assert service.claim('p', 'none').id == ''
    assert bodies(service, 'none') == []


def test_subscription_is_created_and_deleted(service: base.Queues) -> None:
    service.create('p', 'q')
    id_ = service.subscribe('p', 'q', 'http://here/notify')
    service.unsubscribe('p', 'q', id_)


def test_message_is_not_removed_by_another_claim(harness: Harness) -> None:
    service = base.load(harness.conf, harness.database)
    service.post('p', 'q', {})
    claim = service.claim('p', 'q')
    service.remove('p', 'q', claim.messages[0].id, 'other')
    service.release('p', 'q', claim.id)
    assert bodies(service) == [{}]


def test_zaqar_gets_the_subscribers_url(
    zaqar: fake.Zaqar, to_zaqar, harness
) -> None:
    service = to_zaqar(harness.database)
    id_ = service.subscribe('p', 'q', 'http://here/notify')
    queue, posted = zaqar.subscriptions[id_]
    assert queue == 'q'
    assert posted['subscriber'] == 'http://here/notify'


def test_failure_of_zaqar_is_reported(
    zaqar: fake.Zaqar, to_zaqar, harness
) -> None:
    service = to_zaqar(harness.database)
    zaqar.broken = True
    with pytest.raises(base.QueueError, match='could not claim'):
        service.claim('p', 'q')


def test_command_posts_and_shows_messages(
    harness: Harness, tmp_path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = tmp_path / 'settings.conf'
    settings.write_text(
        f'[database]\nconnection = {url_of(harness.database)}\n'
    )
    config = ['--config-file', str(settings)]
    assert queue_commands.main(['post', 'q', '{"cluster": "c"}', *config]) == 0
    assert queue_commands.main(['show', 'q', *config]) == 0
    assert queue_commands.main(['show', 'q', '--project', 'x', *config]) == 0
    assert capsys.readouterr().out == '{"cluster": "c"}\n'
    for arguments in (['q', '[1]'], ['q' * 65, '{}'], ['', '{}']):
        with pytest.raises(SystemExit, match='2'):
            queue_commands.main(['post', *arguments, *config])


def test_command_when_posting_fails_raises(
    zaqar: fake.Zaqar, to_zaqar, harness: Harness, tmp_path
) -> None:
    zaqar.broken = True
    settings = tmp_path / 'settings.conf'
    settings.write_text(
        f'[database]\nconnection = {url_of(harness.database)}\n'
        '[queues]\ndriver = zaqar\ncloud = here\n'
    )
    with pytest.raises(exceptions.VobjectsError, match='could not post'):
        queue_commands.main(
            ['post', 'q', '{}', '--config-file', str(settings)]
        )


def test_unknown_driver_is_rejected(harness: Harness) -> None:
    harness.conf.set_override('driver', 'letters', 'queues')
    with pytest.raises(exceptions.VobjectsError, match='there is no letters'):
        base.load(harness.conf, harness.database)
