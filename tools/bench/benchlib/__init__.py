# SPDX-License-Identifier: GPL-2.0-only
"""Parts of bench-swap and demo; see docs/benchmarking.md. They keep what they make where the lab does."""

import pathlib
import sys

_TOOLS = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(_TOOLS / "lab"), str(_TOOLS.parent / "selftests")]
