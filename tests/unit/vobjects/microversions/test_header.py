# SPDX-License-Identifier: Apache-2.0
"""Parsing and negotiation of the version header."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.vobjects.microversions import samples
from vobjects.microversions import errors, header, presets, version_policy
from vobjects.versions import Maximum, Version

MAXIMUM = Maximum(Version(1, 14))
SENLIN = header.Negotiator(presets.SENLIN)
SEVERAL_NAMES = version_policy.VersionPolicy(
    service_types=('container-infrastructure-management', 'container-infra'),
    minimum=Version(1, 1),
    maximum=Version(1, 14),
    help_url='https://docs.example.org/',
)
WITH_LEGACY = version_policy.VersionPolicy(
    service_types=('compute',),
    minimum=Version(2, 1),
    maximum=Version(2, 104),
    help_url='https://docs.example.org/',
    legacy_headers=('X-OpenStack-Nova-API-Version',),
)


def negotiate(value, maximum=MAXIMUM):
    return str(SENLIN.negotiate(value, maximum))


@pytest.mark.parametrize(
    ('value', 'expected'),
    [
        ('', '1.0'),
        (' \t', '1.0'),
        (',', '1.0'),
        ('clustering 1.0', '1.0'),
        ('clustering 1.7', '1.7'),
        ('clustering 1.10', '1.10'),
        ('Clustering 1.7', '1.7'),
        ('  clustering\t 1.7 ', '1.7'),
        ('clustering latest', '1.14'),
        ('clustering LATEST', '1.14'),
        ('clustering Latest', '1.14'),
        ('compute 2.1', '1.0'),
        ('compute latest', '1.0'),
        ('compute', '1.0'),
        ('compute pony', '1.0'),
        ('clustering-x 1.7', '1.0'),
        ('x-clustering 1.7', '1.0'),
        ('compute 2.1, clustering 1.5', '1.5'),
        ('clustering 1.5, compute 2.1', '1.5'),
        ('compute 2.1,clustering 1.5,identity 3.4', '1.5'),
        ('clustering 1.5,,compute 2.1,', '1.5'),
        ('clustering 1.7, clustering 1.7', '1.7'),
        ('clustering latest, clustering LATEST', '1.14'),
    ],
)
def test_negotiate_when_valid_returns_the_version(value, expected):
    assert negotiate(value) == expected


@pytest.mark.parametrize(
    'value',
    [
        'clustering',
        'clustering ',
        'clustering pony',
        'clustering 1',
        'clustering 1.',
        'clustering .7',
        'clustering 1.7.0',
        'clustering 1,7',
        'clustering 1.03',
        'clustering 01.3',
        'clustering 0.0',
        'clustering 0.9',
        'clustering +1.3',
        'clustering -1.3',
        'clustering 1.-3',
        'clustering 1.1_0',
        'clustering 1 .3',
        'clustering 1. 3',
        'clustering 1.3 1.4',
        'clustering 1.3 clustering 1.4',
        'clustering 1.٣',
        'clustering 1.\xb2',
        'clustering 1.3\n',
        'clustering\xa01.3, clustering',
        'clustering latest pony',
        'clustering latest.',
        'clustering=1.3, clustering',
        '1.7',
        'latest',
        'compute 2.1, 1.7',
    ],
)
def test_negotiate_when_malformed_is_rejected_with_an_example(value):
    with pytest.raises(errors.MalformedVersion) as caught:
        negotiate(value)

    assert "'clustering 1.10'" in caught.value.detail
    assert caught.value.status_for(presets.SENLIN) == 400


@pytest.mark.parametrize(
    'value',
    [
        'clustering 1.7, clustering 1.8',
        'clustering 1.7, clustering latest',
        'clustering 1.7, compute 2.1, clustering 1.8',
    ],
)
def test_negotiate_when_contradictory_names_both(value):
    with pytest.raises(errors.MalformedVersion) as caught:
        negotiate(value)

    assert "'1.7'" in caught.value.detail
    assert "'1.8'" in caught.value.detail or "'latest'" in caught.value.detail


@pytest.mark.parametrize(
    'text', ['1.15', '2.0', '1.999999999', '9' * 30 + '.1', '1.' + '9' * 5000]
)
def test_negotiate_when_out_of_range_names_minimum_and_maximum(text):
    with pytest.raises(errors.UnsupportedVersion) as caught:
        negotiate(f'clustering {text}')

    assert caught.value.extra == {
        'min_version': '1.0',
        'max_version': '1.14',
    }
    assert caught.value.text == text
    assert len(caught.value.detail) < 300


def test_negotiate_when_below_the_minimum_is_unsupported():
    with pytest.raises(errors.UnsupportedVersion):
        header.Negotiator(SEVERAL_NAMES).negotiate(
            'container-infra 1.0', MAXIMUM
        )


def test_negotiate_when_the_fleet_is_older_gives_the_reason():
    capped = Maximum(Version(1, 7), 'engine-2 (release 0.1.0) speaks no newer')

    with pytest.raises(errors.UnsupportedVersion) as caught:
        negotiate('clustering 1.8', capped)

    assert caught.value.detail == (
        "Version '1.8' is not supported by the API. Minimum is '1.0' and"
        " maximum is '1.7', because engine-2 (release 0.1.0) speaks no newer."
    )
    assert negotiate('clustering latest', capped) == '1.7'
    assert negotiate('clustering 1.7', capped) == '1.7'


def test_negotiate_when_the_maximum_rises_serves_newer_versions():
    with pytest.raises(errors.UnsupportedVersion):
        negotiate('clustering 1.8', Maximum(Version(1, 7)))

    assert negotiate('clustering 1.8', Maximum(Version(1, 8))) == '1.8'


def test_negotiate_when_the_fleet_is_newer_stays_within_this_build():
    newer = Maximum(Version(1, 99))

    assert negotiate('clustering latest', newer) == '1.14'
    with pytest.raises(errors.UnsupportedVersion, match=r"maximum is '1\.14'"):
        negotiate('clustering 1.15', newer)


def test_negotiate_when_nothing_is_served_returns_the_minimum():
    none = Maximum(Version(0, 0), 'no engine is alive')

    assert negotiate('', none) == '1.0'
    assert negotiate('clustering latest', none) == '1.0'


@pytest.mark.parametrize(
    'name', ['container-infra', 'container-infrastructure-management']
)
def test_negotiate_accepts_each_service_type(name):
    negotiator = header.Negotiator(SEVERAL_NAMES)

    assert negotiator.negotiate(f'{name} 1.3', MAXIMUM) == (1, 3)


def test_negotiate_when_too_long_is_rejected_unparsed():
    with pytest.raises(errors.MalformedVersion, match='8192'):
        negotiate('compute 2.1,' * 1000)


def test_negotiate_when_long_but_valid_is_parsed():
    assert negotiate('compute 2.1,' * 600 + 'clustering 1.3') == '1.3'


@pytest.mark.parametrize(
    ('value', 'legacy', 'expected'),
    [
        ('', ['2.7'], '2.7'),
        ('', [' latest '], '2.104'),
        ('', ['', '2.7'], '2.7'),
        ('', ['2.7, 2.7'], '2.7'),
        ('', [], '2.1'),
        ('compute 2.9', ['2.7'], '2.9'),
        ('identity 3.1', ['2.7'], '2.7'),
    ],
)
def test_legacy_header_is_used_without_a_standard_one(value, legacy, expected):
    version = header.Negotiator(WITH_LEGACY).negotiate(
        value, WITH_LEGACY.limit(), legacy=legacy
    )

    assert str(version) == expected


@pytest.mark.parametrize(
    'value', ['compute 2.7', '2.07', '2.7,2.8', '2' * 9000]
)
def test_legacy_header_when_malformed_is_rejected(value):
    with pytest.raises(errors.MalformedVersion):
        header.Negotiator(WITH_LEGACY).negotiate('', MAXIMUM, [value])


# Valid and invalid parts of a header.
ITEM = st.one_of(
    st.text(),
    st.text('clustering0123456789. ,+_-\tlateLATES', max_size=30),
    st.from_regex(r'clustering [0-9]{1,3}\.[0-9]{1,3}', fullmatch=True),
    st.sampled_from(['clustering latest', 'compute 2.1', 'clustering', ' ']),
)


@given(st.lists(ITEM, max_size=5).map(','.join))
def test_negotiate_for_any_text_returns_a_served_version_or_an_error(value):
    result = samples.outcome(SENLIN.negotiate, value, MAXIMUM)

    if isinstance(result, Version):
        assert presets.SENLIN.minimum <= result <= MAXIMUM.version
    else:
        assert result.status_for(presets.SENLIN) in {400, 406}


@given(
    st.integers(min_value=1, max_value=10**9 - 1),
    st.integers(min_value=0, max_value=1000),
    st.sampled_from(
        ['{0}', 'compute 2.1, {0}', '{0} , compute 2.1', '{0},{0}']
    ),
)
def test_negotiate_for_canonical_text_returns_it(major, minor, form):
    text = f'{major}.{minor}'

    policy = dataclasses.replace(
        presets.SENLIN,
        minimum=Version(major, 0),
        maximum=Version(major, minor),
    )

    version = header.Negotiator(policy).negotiate(
        form.format(f'clustering {text}'), policy.limit()
    )

    assert version == (major, minor)
