# SPDX-License-Identifier: Apache-2.0
"""The revisions, one module each, in the order of their numbers."""
