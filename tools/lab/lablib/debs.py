# SPDX-License-Identifier: GPL-2.0-only
"""Where packages come from, and single ones of Debian's, unpacked but not installed."""

import re
import subprocess

from . import cache
from .machines import DEFAULT

# Of Debian's, too: what Ubuntu signs its packages with.
KEYRING = "ubuntu-archive-keyring"


def _proxies():
    """The host's proxies, as options: mmdebstrap has apt read a new configuration. They are no part of any recipe."""
    dump = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=True).stdout
    return [f"--aptopt={line}" for line in dump.splitlines()
            if re.match(r'Acquire::\w+::Proxy(-?Auto-?Detect|::[^" ]+)? ".+";$', line)]


def options(machine):
    """Options that mmdebstrap needs on this host for the machine's suite."""
    words = _proxies()
    if machine.ended:
        words.append('--aptopt=Acquire::Check-Valid-Until "false"')
    if machine.ubuntu:
        keyring = unpack("ubuntu-keyring", (KEYRING,)) / f"root/usr/share/keyrings/{KEYRING}.gpg"
        words += [f"--keyring={keyring}", "--components=main,universe"]
    if machine.backports:
        words.append(f"--setup-hook=sed -n 's/ {machine.suite} / {machine.slug} /p' "
                     '"$1/etc/apt/sources.list" >"$1/etc/apt/sources.list.d/backports.list"')
    return words


def unpack(name, packages, finish=None, recipe=()):
    """
    Unpacks PACKAGES and what they depend on, once; returns the directory whose root/ has them. FINISH works on that
    directory, as RECIPE says.
    """
    final = cache.CACHE / f"{name}-{cache.digest(DEFAULT.suite, *packages, *recipe)}"
    with cache.lock(final.name):
        if final.exists():
            return final
        with (cache.making(final) as made,
              cache.step(f"fetching Debian's {packages[0]} (once, about a minute)")):
            cache.fetched(["mmdebstrap", "--variant=extract", "--include=" + ",".join(packages),
                           *options(DEFAULT), DEFAULT.suite, str(made / "root")],
                          made / "log", made / "root")
            if finish:
                finish(made)
    return final
