# SPDX-License-Identifier: Apache-2.0
"""Message queues that users have: entry points of ``vobjects.queues``."""
