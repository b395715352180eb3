# SPDX-License-Identifier: Apache-2.0
"""Message queues for users: entry points of ``vobjects.queues``."""
