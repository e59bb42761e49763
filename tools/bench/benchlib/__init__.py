# SPDX-License-Identifier: GPL-2.0-only
"""Parts of bench-swap and demo; see docs/benchmarks.md."""
