# SPDX-License-Identifier: GPL-2.0-only
"""Set when the run is to end early: workers end what they wait for, and begin nothing."""

import threading

stop = threading.Event()
