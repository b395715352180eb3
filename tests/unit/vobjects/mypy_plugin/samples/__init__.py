# SPDX-License-Identifier: Apache-2.0
"""What mypy is run on; the comments say what it has to answer."""
