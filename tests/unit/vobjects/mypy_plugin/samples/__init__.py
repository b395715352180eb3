# SPDX-License-Identifier: Apache-2.0
"""Input for mypy; the comments contain the expected output."""
