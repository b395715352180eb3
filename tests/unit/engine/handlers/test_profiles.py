# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from engine.db import models
from tests.unit.engine import engine_harness, request_helpers
from tests.unit.engine.engine_harness import Engine, Harness
from vobjects import objects
from vobjects.clustering import errors
from vobjects.clustering.requests import profiles
from vobjects.objects.manifest import local


def test_create_returns_spec_and_metadata(engine: Engine) -> None:
    created = engine.call(
        profiles.ProfileCreateRequest(
            name='p', spec=engine_harness.SPEC, metadata={'a': [1]}
        )
    )
    assert (created.name, created.type) == ('p', 'os.nova.server-1.0')
    assert (created.spec, created.metadata) == (
        engine_harness.SPEC,
        {'a': [1]},
    )
    assert (created.user, created.project, created.domain) == (
        'alice',
        'ours',
        'd',
    )
    assert created.created_at is not None
    assert created.updated_at is None
    read = engine.call(profiles.ProfileGetRequest(identity=created.id[:8]))
    assert objects.to_json(read, local()) == objects.to_json(created, local())


@pytest.mark.parametrize(
    'request_type',
    [profiles.ProfileCreateRequest, profiles.ProfileValidateRequest],
)
def test_bad_spec_is_rejected(
    harness: Harness, engine: Engine, request_type: Any
) -> None:
    named = {'name': 'p'} if 'name' in request_type.fields else {}
    with pytest.raises(
        errors.InvalidSpec, match='flavor is required'
    ) as caught:
        engine.call(
            request_type(
                spec={**engine_harness.SPEC, 'properties': {}}, **named
            )
        )
    message = "Required spec item 'flavor' not provided"
    assert caught.value.compat_message == (
        f'Failed in creating profile p: {message}' if named else message
    )
    assert harness.count(models.Profile) == 0


def test_validate_creates_no_profile(harness: Harness, engine: Engine) -> None:
    validated = engine.call(
        profiles.ProfileValidateRequest(spec=engine_harness.SPEC)
    )
    assert validated.type == 'os.nova.server-1.0'
    assert harness.count(models.Profile) == 0


def test_update_changes_name_and_metadata(engine: Engine) -> None:
    profile = request_helpers.create_profile(engine)
    updated = engine.call(
        profiles.ProfileUpdateRequest(
            identity=profile, name='new', metadata={'b': 1}
        )
    )
    assert (updated.name, updated.metadata) == ('new', {'b': 1})
    assert updated.updated_at is not None


@pytest.mark.parametrize('options', [{}, {'name': 'p'}, {'metadata': {}}])
def test_update_without_changes_is_rejected(
    engine: Engine, options: dict[str, Any]
) -> None:
    request_helpers.create_profile(engine)
    with pytest.raises(errors.BadRequest, match='No property'):
        engine.call(profiles.ProfileUpdateRequest(identity='p', **options))


def test_delete_of_profile_in_use_is_rejected(engine: Engine) -> None:
    request_helpers.create_cluster(engine, 2)
    with pytest.raises(
        errors.ResourceInUse, match='some clusters and/or nodes'
    ):
        engine.call(profiles.ProfileDeleteRequest(identity='p'))


def test_delete_removes_unused_profile(
    harness: Harness, engine: Engine
) -> None:
    request_helpers.create_profile(engine)
    assert engine.call(profiles.ProfileDeleteRequest(identity='p')) is None
    assert harness.count(models.Profile) == 0


@pytest.mark.parametrize(
    'request_type',
    [
        profiles.ProfileGetRequest,
        profiles.ProfileUpdateRequest,
        profiles.ProfileDeleteRequest,
    ],
)
def test_another_projects_profile_is_not_found(
    engine: Engine, request_type: Any
) -> None:
    profile = request_helpers.create_profile(
        engine, context=engine_harness.request_context('theirs')
    )
    for identity in ('p', profile):
        with pytest.raises(errors.ResourceNotFound):
            engine.call(request_type(identity=identity))


def test_list_is_filtered_by_type_and_name(engine: Engine) -> None:
    for name in 'ab':
        request_helpers.create_profile(engine, name)

    def names(**options: Any) -> list[str]:
        request = profiles.ProfileListRequest(**options)
        return [profile.name for profile in engine.call(request)]

    assert names(type=['os.nova.server-1.0'], sort='name') == ['a', 'b']
    assert names(type=['os.heat.stack-1.0']) == []
    assert names(name=['b']) == ['b']


def test_types_are_listed_and_shown(engine: Engine) -> None:
    items = engine.call(profiles.ProfileTypeListRequest())
    # Senlin's, and no others: senlin-tempest-plugin rejects an unknown type.
    assert [(item.name, item.version) for item in items] == [
        ('container.dockerinc.docker', '1.0'),
        ('os.heat.stack', '1.0'),
        ('os.nova.server', '1.0'),
    ]
    profile_type = engine.call(
        profiles.ProfileTypeGetRequest(identity='os.nova.server-1.0')
    )
    assert profile_type.schema['flavor']['required'] is True
    assert profile_type.support_status['1.0'][0]['status'] == 'SUPPORTED'
    with pytest.raises(errors.ResourceNotFound):
        engine.call(profiles.ProfileTypeGetRequest(identity='none'))


def test_type_list_shows_support_status_of_each_version(
    engine: Engine,
) -> None:
    rows = engine.call(profiles.ProfileTypeListRequest())
    assert rows
    for row in rows:
        assert list(row.support_status) == [row.version]
