# SPDX-License-Identifier: Apache-2.0
"""Measure which known upgrade bugs of other projects the tools find."""
