# SPDX-License-Identifier: Apache-2.0
"""The acceptance tests' own logic."""
