# SPDX-License-Identifier: Apache-2.0

from vobjects.clustering.service import SERVICE as SERVICE
