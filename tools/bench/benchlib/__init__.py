# SPDX-License-Identifier: GPL-2.0-only
"""Parts of bench-swap and demo; see docs/benchmarks.md. They keep what they make where the lab does."""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "lab"))
