# SPDX-License-Identifier: Apache-2.0
"""The measurement with upgrade bugs of other projects."""
