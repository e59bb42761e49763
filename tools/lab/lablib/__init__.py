# SPDX-License-Identifier: GPL-2.0-only
"""Parts of the lab; see docs/testing.md."""
