# SPDX-License-Identifier: Apache-2.0
"""Act for users, and store the credentials for it.

::

    receiver_credentials  credentials of receivers, which act for their owners
    project_trusts  trusts by which engines act in the projects of users
    keystone     trusts in Keystone, used by both
    encryption   encryption of stored credentials
    conf         the options [receivers]
"""
