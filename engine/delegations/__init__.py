# SPDX-License-Identifier: Apache-2.0
"""What receivers may do for their owners, and how it is kept."""
