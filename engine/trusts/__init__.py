# SPDX-License-Identifier: Apache-2.0
"""Act for users, and store the credentials for it.

::

    base       credentials of receivers, which act for their owners
    projects   acting in a cloud for users in their projects
    trusts     trusts in Keystone, used by both
    box        encryption of stored credentials
    revoker    revocation of unused credentials
"""
