# SPDX-License-Identifier: Apache-2.0
"""What drivers of oslo.messaging have in common.

::

    base           the base classes of drivers and of incoming messages
    oslo_api       the private parts of oslo.messaging that drivers need
    deadline       timeouts
    encoding       JSON
    remote_errors  descriptions of a server's error
    errors         the error of a lost response
"""
