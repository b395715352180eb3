# SPDX-License-Identifier: Apache-2.0
"""The comparison of the source code of two releases."""
