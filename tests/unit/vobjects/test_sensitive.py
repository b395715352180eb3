# SPDX-License-Identifier: Apache-2.0
"""Hidden parts of a URL."""

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
        ('mysql://db/x?user=u&password=PW&charset=b', 'mysql://db/x?user=u&password=***&charset=b'),
        ('rabbit://u:PW@a:1,u:PW@b:2/v', 'rabbit://u:***@a:1,u:***@b:2/v'),
        ('rabbit://:PW@a/', 'rabbit://:***@a/'),
        ('rabbit://u:P,u:W@a/', 'rabbit://u:***@a/'),
        ('rabbit://u:PW@a/?PW=PW&ssl=1', 'rabbit://u:***@a/?PW=***&ssl=1'),
        ('mysql://u:P@W,P:W@db/x', 'mysql://u:***@db/x'),
        ('mysql://u:P@W/P@W@db/x', 'mysql://u:***@db/x'),
        ('mysql://P@W:P@db/x', 'mysql://***@db/x'),
        ('mysql://u:P?W@db/x?ssl=1', 'mysql://***@db/x'),
        ('mysql://u:P@W?P@db/x', 'mysql://***@db/x'),
        ('u:PW@db', '***@db'),
    ],
)  # fmt: skip
def test_mask_url_hides_passwords(url, shown):
    assert sensitive.mask_url(url) == shown


@pytest.mark.parametrize(
    ('url', 'text', 'shown'),
    [
        ('a://u:PW@b', 'no a://u:PW@b', 'no a://u:***@b'),
        ('mysql://u:PW1@PW2@db/x', 'no host "PW2@db"', 'no host "***@db"'),
        ('rabbit://u:PW1/PW2@db/x', "no port: 'PW1'", "no port: '***'"),
        ('rabbit://u:PW1,PW2@db/x', "no port: 'PW1'", "no port: '***'"),
        ('rabbit://u:[PW1]@db/x', "'PW1' is no IP", "'***' is no IP"),
        ('mysql://u:a%20b@db/x', 'not a b', 'not ***'),
        ('mysql://u:$PW1.x@db/x', 'no option PW1', 'no option ***'),
        ('mysql://db/x?password=PW1', 'PW1 on db', '*** on db'),
        ('mysql://u:db@db/x', 'u on db', 'u on db'),
        ('mysql://u:e@db/x', 'refused', 'refused'),
        ('u:PW1@db', 'u has PW1', '*** has ***'),
        ('rubbish', 'rubbish is no URL', 'rubbish is no URL'),
        ('', 'no URL', 'no URL'),
    ],
)  # fmt: skip
def test_mask_text_hides_parts_of_passwords(url, text, shown):
    assert sensitive.mask_text(text, url) == shown
