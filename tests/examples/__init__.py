# SPDX-License-Identifier: Apache-2.0
"""Services in ``examples``, built, installed and upgraded as by users."""
