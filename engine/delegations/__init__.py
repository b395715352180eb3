# SPDX-License-Identifier: Apache-2.0
"""What the service may do for users, and how it is kept.

::

    base      what receivers may do for their owners
    projects  what engines may do in a cloud for users in their projects
    trusts    Keystone's part of both
    box       how it is kept
    revoker   how it ends
"""
