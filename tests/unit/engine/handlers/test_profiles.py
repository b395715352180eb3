# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from engine.db import models
from tests.unit.engine import asks, fleet
from vobjects import objects
from vobjects.clustering import errors
from vobjects.clustering.requests import profiles
from vobjects.objects.manifest import local


@pytest.fixture
def engine(world: fleet.World) -> fleet.Engine:
    return world.engine()


def test_create_shows_what_was_given(engine: fleet.Engine) -> None:
    found = engine.ask(
        profiles.ProfileCreateRequest(
            name='p', spec=fleet.SPEC, metadata={'a': [1]}
        )
    )
    assert (found.name, found.type) == ('p', 'os.nova.server-1.0')
    assert (found.spec, found.metadata) == (fleet.SPEC, {'a': [1]})
    assert (found.user, found.project, found.domain) == ('alice', 'ours', 'd')
    assert found.created_at is not None
    assert found.updated_at is None
    again = engine.ask(profiles.ProfileGetRequest(identity=found.id[:8]))
    assert objects.to_json(again, local()) == objects.to_json(found, local())


@pytest.mark.parametrize(
    'request_type',
    [profiles.ProfileCreateRequest, profiles.ProfileValidateRequest],
)
def test_bad_spec_is_refused(
    world: fleet.World, engine: fleet.Engine, request_type: Any
) -> None:
    named = {'name': 'p'} if 'name' in request_type.fields else {}
    with pytest.raises(
        errors.InvalidSpec, match='flavor is required'
    ) as caught:
        engine.ask(
            request_type(spec={**fleet.SPEC, 'properties': {}}, **named)
        )
    said = "Required spec item 'flavor' not provided"
    assert caught.value.compat_message == (
        f'Failed in creating profile p: {said}' if named else said
    )
    assert world.count(models.Profile) == 0


def test_validate_creates_nothing(
    world: fleet.World, engine: fleet.Engine
) -> None:
    found = engine.ask(profiles.ProfileValidateRequest(spec=fleet.SPEC))
    assert found.type == 'os.nova.server-1.0'
    assert world.count(models.Profile) == 0


def test_update_changes_name_and_metadata(engine: fleet.Engine) -> None:
    profile = asks.profile(engine)
    found = engine.ask(
        profiles.ProfileUpdateRequest(
            identity=profile, name='new', metadata={'b': 1}
        )
    )
    assert (found.name, found.metadata) == ('new', {'b': 1})
    assert found.updated_at is not None


@pytest.mark.parametrize('options', [{}, {'name': 'p'}, {'metadata': {}}])
def test_update_of_nothing_is_refused(
    engine: fleet.Engine, options: dict[str, Any]
) -> None:
    asks.profile(engine)
    with pytest.raises(errors.BadRequest, match='No property'):
        engine.ask(profiles.ProfileUpdateRequest(identity='p', **options))


def test_delete_of_what_is_used_is_refused(engine: fleet.Engine) -> None:
    asks.cluster(engine, 2)
    with pytest.raises(
        errors.ResourceInUse, match='some clusters and/or nodes'
    ):
        engine.ask(profiles.ProfileDeleteRequest(identity='p'))


def test_delete_removes_what_is_not_used(
    world: fleet.World, engine: fleet.Engine
) -> None:
    asks.profile(engine)
    assert engine.ask(profiles.ProfileDeleteRequest(identity='p')) is None
    assert world.count(models.Profile) == 0


@pytest.mark.parametrize(
    'request_type',
    [
        profiles.ProfileGetRequest,
        profiles.ProfileUpdateRequest,
        profiles.ProfileDeleteRequest,
    ],
)
def test_another_projects_profile_is_not_found(
    engine: fleet.Engine, request_type: Any
) -> None:
    profile = asks.profile(engine, context=fleet.caller('theirs'))
    for identity in ('p', profile):
        with pytest.raises(errors.ResourceNotFound):
            engine.ask(request_type(identity=identity))


def test_list_is_filtered_by_type_and_name(engine: fleet.Engine) -> None:
    for name in 'ab':
        asks.profile(engine, name)

    def names(**options: Any) -> list[str]:
        request = profiles.ProfileListRequest(**options)
        return [one.name for one in engine.ask(request)]

    assert names(type=['os.nova.server-1.0'], sort='name') == ['a', 'b']
    assert names(type=['os.heat.stack-1.0']) == []
    assert names(name=['b']) == ['b']


def test_types_are_listed_and_shown(engine: fleet.Engine) -> None:
    items = engine.ask(profiles.ProfileTypeListRequest())
    assert [(item.name, item.version) for item in items] == [
        ('container.dockerinc.docker', '1.0'),
        ('os.heat.stack', '1.0'),
        ('os.nova.server', '1.0'),
    ]
    found = engine.ask(
        profiles.ProfileTypeGetRequest(identity='os.nova.server-1.0')
    )
    assert found.schema['flavor']['required'] is True
    assert found.support_status['1.0'][0]['status'] == 'SUPPORTED'
    with pytest.raises(errors.ResourceNotFound):
        engine.ask(profiles.ProfileTypeGetRequest(identity='none'))
