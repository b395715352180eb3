# SPDX-License-Identifier: Apache-2.0
"""A secret store in the style of OpenStack Barbican."""
