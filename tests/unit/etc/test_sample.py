# SPDX-License-Identifier: Apache-2.0
"""``etc/vobjects.conf.sample`` has the options that there are."""

from __future__ import annotations

import pathlib

import pytest
from oslo_config import cfg, generator

from api import conf as api_conf
from engine import conf as engine_conf
from vobjects.rpc import conf as rpc_conf
from vobjects.rpc.drivers import embedded

ETC = pathlib.Path(__file__).parents[3] / 'etc'

#: Ours only by their place: oslo.policy has written them, and may add some.
FOREIGN = '[oslo_policy]'


def options(sample: pathlib.Path) -> list[str]:
    """Return the lines that set something, each after its section.

    The words between them are oslo.config's in part, and differ by release.
    """
    found, section = [], ''
    for line in sample.read_text().splitlines():
        if line.startswith('['):
            section = line
        elif line.startswith('#') and '=' in line and section != FOREIGN:
            name = line[1:].partition('=')[0].strip()
            if name.isidentifier():
                found.append(f'{section} {line}')
    return found


@pytest.fixture(scope='module')
def fresh(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A sample that is made now."""
    path = tmp_path_factory.mktemp('sample') / 'vobjects.conf.sample'
    generator.main(
        [
            f'--config-file={ETC / "config-generator.conf"}',
            f'--output-file={path}',
        ]
    )
    return path


def test_sample_is_fresh(fresh: pathlib.Path) -> None:
    kept = options(ETC / 'vobjects.conf.sample')
    assert kept == options(fresh), 'run `make sample`'


def test_sample_has_all_options_of_ours(fresh: pathlib.Path) -> None:
    text = '\n'.join(options(fresh))
    for module in (api_conf, engine_conf, rpc_conf, embedded):
        for group, listed in module.list_opts():
            section = f'[{group}]'
            if section == FOREIGN:
                continue
            for option in listed:
                assert f'{section} #{option.dest} =' in text, option.name


def test_sample_can_be_read(
    fresh: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    """With every line as a setting, too."""
    path = tmp_path / 'all.conf'
    lines = []
    for line in fresh.read_text().splitlines():
        name, equals, value = line.removeprefix('#').partition(' =')
        value = value.strip()
        is_setting = (
            equals and name.isidentifier() and value not in ('', '<None>')
        )
        lines.append(line.removeprefix('#') if is_setting else line)
    path.write_text('\n'.join(lines))
    conf = cfg.ConfigOpts()
    api_conf.register(conf)
    engine_conf.register(conf)
    rpc_conf.register(conf)
    conf([], default_config_files=[str(path)])
    assert conf.api.port == 8777
    api_conf.check(conf)
