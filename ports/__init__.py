# SPDX-License-Identifier: Apache-2.0
"""Run services of OpenStack on this library; see README.md."""
