# SPDX-License-Identifier: Apache-2.0
"""Warnings of openstacksdk about its own calls and its next major versions."""

import pytest
from openstack import warnings

#: Marks of tests that use openstacksdk in their process. Old versions lack
#: some of these warnings, and pytest rejects a filter of an unknown one.
IGNORED = [
    pytest.mark.filterwarnings(f'ignore::openstack.warnings.{name}')
    for name in ('RemovedInSDK50Warning', 'RemovedInSDK60Warning')
    if hasattr(warnings, name)
]
