# SPDX-License-Identifier: Apache-2.0
"""Actions, selected by the key of the body."""

import pytest

from vobjects import exceptions
from vobjects.controllers.actions import Actions, action
from vobjects.controllers.decorators import schema
from vobjects.controllers.dispatch import api_version
from vobjects.microversions import errors
from vobjects.microversions.version_policy import MICROVERSION
from vobjects.versions import Version

STOP = {
    'type': 'object',
    'properties': {'stop': {'type': 'object'}},
    'additionalProperties': False,
}


class Controller:
    @action('run')
    @api_version('1.2')
    def run(self, req, identity, body):
        return 'run', identity, body

    @action('stop')
    @schema(STOP)
    def halt(self, req, identity, body):
        return 'halt', identity, body

    def other(self, req, identity, body):
        return 'other'


class ScaleController:
    @action('scale_in')
    def scale_in(self, req, identity, body):
        return 'scaled'


def act(version, body, *controllers):
    request = {MICROVERSION: Version.parse(version)}
    call_action = Actions(*(controllers or [Controller()]))
    return call_action(request, 'c1', body=body)


def test_action_named_by_the_body_is_called():
    assert act('1.2', {'run': {}}) == ('run', 'c1', {'run': {}})
    assert act('1.0', {'stop': {}}) == ('halt', 'c1', {'stop': {}})
    assert (
        act('1.0', {'scale_in': 1}, Controller(), ScaleController())
        == 'scaled'
    )


@pytest.mark.parametrize(
    ('version', 'body', 'problem'),
    [
        ('1.2', {}, "not none; known here: 'stop', 'run'"),
        ('1.0', {}, "not none; known here: 'stop'"),
        ('1.2', {'run': {}, 'stop': {}}, 'must name one action, not 2'),
        (
            '1.2',
            {'other': {}},
            r"body\.other: unknown action; must be one of 'stop', 'run'",
        ),
        ('1.2', {'stop': 1}, r'body\.stop: must be a JSON object, not 1'),
        ('1.2', ['run'], 'must be a JSON object'),
    ],
)
def test_body_when_it_names_no_action_is_rejected(version, body, problem):
    with pytest.raises(errors.ValidationError, match=problem):
        act(version, body)


def test_action_when_of_a_later_version_names_that_version():
    with pytest.raises(
        errors.MethodNotAtVersion, match=r'run needs API version 1\.2 or later'
    ):
        act('1.1', {'run': {}})


def test_actions_with_the_same_key_are_an_error_with_both_locations():
    with pytest.raises(exceptions.DeclarationError, match='twice') as caught:
        Actions(Controller(), Controller())

    assert str(caught.value).count('test_actions.py:') == 2
