# SPDX-License-Identifier: Apache-2.0
"""Paths of the configuration and the state directory that name no file."""

import pytest

from tests.unit.vobjects.cli.test_special_files import SPECIAL, path, special
from vobjects.clustering.run import config_check, state

__all__ = ['path']


@special
def test_check_of_the_configuration_when_a_path_is_special_rejects_it(
    kind, path
):
    SPECIAL[kind](path)
    file = path.with_name('a.conf')
    file.write_text(f'[oslo_messaging_rabbit]\nssl_ca_file = {path}\n')
    (finding,) = config_check.check([str(file)])
    assert finding.rejected
    assert finding.text.endswith(f'= {path}: must be a file, not {kind}')


@pytest.mark.parametrize('kind', sorted(SPECIAL.keys() - {'a directory'}))
@pytest.mark.parametrize('name', ['lock', 'receivers.key', 'log/api.log'])
def test_a_state_directory_with_a_special_file_is_rejected(
    kind, name, tmp_path
):
    directory = tmp_path / 'state'
    state.StateDirectory(directory)
    SPECIAL[kind](directory / name)
    with pytest.raises(state.StateError, match=f'{name} is {kind}; delete'):
        state.StateDirectory(directory)
