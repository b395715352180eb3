# SPDX-License-Identifier: Apache-2.0
"""Hidden parts of a URL."""

from __future__ import annotations

import pytest

from vobjects import sensitive


@pytest.mark.parametrize(
    ('url', 'shown'),
    [
        ('sqlite:////var/lib/x.sqlite', 'sqlite:////var/lib/x.sqlite'),
        ('rubbish', 'rubbish'),
        ('postgresql://u@db/x', 'postgresql://u@db/x'),
        ('postgresql://u:PW@db/x', 'postgresql://u:***@db/x'),
        ('postgresql://u:P@W@db/x', 'postgresql://u:***@db/x'),
        ('postgresql://u:P/W@db/x', 'postgresql://u:***@db/x'),
        ('mysql://db/x?user=u&password=PW&a=b', 'mysql://db/x?user=u&password=***&a=b'),
        ('rabbit://u:PW@a:1,u:PW@b:2/v', 'rabbit://u:***@a:1,u:***@b:2/v'),
        ('rabbit://:PW@a/', 'rabbit://:***@a/'),
    ],
)  # fmt: skip
def test_mask_url_hides_passwords(url, shown):
    assert sensitive.mask_url(url) == shown
