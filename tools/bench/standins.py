# SPDX-License-Identifier: GPL-2.0-only
"""What tests have in place of VMs and of a checkout's own directories."""

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
# What results say of how they were measured.
ABOUT = {"date": "d", "commit": "c", "kernel": "k", "rounds": 1, "limit_mib": 192, "cache_mib": 32, "knobs": "",
         "tree": "t", "clock": "time is"}


def load(name):
    """A program without .py as a module."""
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(HERE / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


class InDirectory(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.out = pathlib.Path(holder.name)


class WithTools(InDirectory):
    def run_tool(self, boots, tool="bench-swap", **variables):
        """The tool with what BOOTS does in place of VMs: its status and data, and what it printed."""
        module = load(tool)
        variables = {"ROUNDS": "1", "RESULTS": str(self.out / "out")} | variables
        with (mock.patch.dict(os.environ, variables), mock.patch.object(sys, "argv", [tool]),
              mock.patch.object(module.guest, "run", side_effect=boots), mock.patch.object(module.guest, "draw"),
              mock.patch.object(module.guest, "interrupted_by_sigterm"), mock.patch.object(module.guest, "need_root"),
              mock.patch.object(module.progress, "Line"),
              mock.patch.object(module.guest, "emulator_version", return_value="10.0"),
              mock.patch.object(module.guest.packages, "bcache_tools", return_value=()),
              mock.patch.object(module.cache, "scratch", lambda name: self.scratch()),
              contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(said)):
            status = module.main()
        return status, json.loads((self.out / "out/results.json").read_text()), said.getvalue()

    @contextlib.contextmanager
    def scratch(self):
        with tempfile.TemporaryDirectory() as holder:
            yield pathlib.Path(holder)

    def page(self):
        return (self.out / "out/report.md").read_text(encoding="utf-8")
