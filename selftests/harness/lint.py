# SPDX-License-Identifier: GPL-2.0-only
"""Checks of the sources that need no running kernel."""

import contextlib
import os
import pathlib
import re
import subprocess

from lablib import cache, cross, machines, tree

from . import commands

CHECKOUT = cache.CHECKOUT
LAB = CHECKOUT / "tools/lab/lab"
LONGEST_FILE = 600
# All are done in two minutes here; the lab may have to make a tree first, or to build a kernel when it gets a place.
LIMIT_SECONDS = 900
LAB_SECONDS = 7200
LONGEST_PYTHON_LINE = 120
# What checkpatch asks by the way, and need not: of tracepoints, of a macro that makes a function, of algo/, which is
# not for kernels only, and of locks, which the comments of what they protect name.
NOT_FOR_KERNEL = ("OPEN_ENDED_LINE", "PARENTHESIS_ALIGNMENT", "LINE_SPACING", "BIT_MACRO", "PREFER_KERNEL_TYPES",
                  "UNNECESSARY_PARENTHESES", "MACRO_ARG_REUSE", "UNCOMMENTED_DEFINITION")
# What checkpatch asks of kernel code only: its macros are not there for programs.
NOT_FOR_PROGRAMS = ("ARRAY_SIZE", "PREFER_DEFINED_ATTRIBUTE_MACRO", "VOLATILE")
# A back-fill takes the arguments of the newest kernel, also those that an old one lacks, and calls what the old
# one has; a macro that defines a whole function has a return in it.
NOT_FOR_COMPAT = ("MACRO_ARG_UNUSED", "DEPRECATED_API", "CONST_STRUCT", "MACRO_WITH_FLOW_CONTROL")
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]')
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"#+ (.+)")
VERSION_TEST = re.compile(r"\bLINUX_VERSION_CODE\b|\bKERNEL_VERSION\s*\(")
BUILD = ("cp -r /muster/Kbuild /muster/modules /root/ && find /root -name '*.o' -delete && "
         "make -j2 -C {} M=/root W=1 {} modules 2>&1")
HEADERS = "/lib/modules/*{}/build"
WARNINGS = BUILD.format(HEADERS.format(""), "C=1 CHECK=sparse")
# The tree has no headers of that kernel but in their package.
CLOUD = f"dpkg --unpack /{tree.UPGRADE_DIR}/linux-headers-*.deb >/dev/null && " + BUILD.format(
    HEADERS.format("-cloud-amd64"), "")
# What make says where it is told of one.
OTHER_COMPILER = "warning: the compiler differs from the one used to build the kernel"
RECORDINGS = {".xz"}
NO_SPDX = {".md", ".gitignore", ".shellcheckrc", "VERSION", "COPYING", "config", "settings"}


class Complaints(Exception):
    """A check found something; the text lists it."""


class Missing(Exception):
    """What a check takes cannot be had here; the text says what and why."""


def sources():
    """Files of the checkout that git knows or would add; without a repository all files."""
    if (CHECKOUT / ".git").exists():
        # Whoever cloned it, it is root who checks it.
        listed = subprocess.run(["git", "-c", "safe.directory=*", "-C", str(CHECKOUT), "ls-files", "-co",
                                 "--exclude-standard"], capture_output=True, text=True, check=True)
        paths = (CHECKOUT / line for line in listed.stdout.splitlines())
    else:
        paths = CHECKOUT.rglob("*")
    return sorted(path for path in paths if path.is_file() and not path.is_symlink())


def of_kind(suffixes, shebang):
    """Sources by suffix or by the interpreter in their first line."""
    chosen = []
    for path in sources():
        if path.suffix in suffixes:
            chosen.append(path)
        elif not path.suffix:
            first = path.read_bytes().split(b"\n", 1)[0]
            if first.startswith(b"#!") and re.search(shebang, first):
                chosen.append(path)
    return chosen


def _run(command, seconds=LIMIT_SECONDS):
    status, output = commands.run(command, seconds, cwd=CHECKOUT)
    if status:
        raise Complaints(output)
    return output


def _digests(paths, common):
    beside = common()
    return {path: cache.digest(*beside, str(path.relative_to(CHECKOUT)), path.read_bytes())
            for path in paths if path.exists()}


@contextlib.contextmanager
def not_passed(name, paths, common):
    """
    Those of PATHS that have not passed the check NAME as they are now, with what COMMON gives beside them (bytes or
    text). When the block raises nothing, all have that are the same after it: it may have read others.
    """
    digests = _digests(paths, common)
    passed = cache.CACHE / "passed" / name
    known = passed.read_text().split() if passed.exists() else ()
    yield [path for path, digest in digests.items() if digest not in known]
    same = digests.items() & _digests(paths, common).items()
    passed.parent.mkdir(exist_ok=True)
    with cache.lock("passed"):
        passed.write_text("\n".join(sorted(digest for _, digest in same)))


def checkpatch():
    """The kernel's own style checker over all C; each file takes it half a second."""
    script = _run([LAB, "checkpatch"], LAB_SECONDS).splitlines()[-1]
    kernel, compat, programs = [], [], []
    for path in of_kind({".c", ".h"}, rb"$^"):
        top = path.relative_to(CHECKOUT).parts
        if top[:2] == ("modules", "compat"):
            compat.append(path)
        else:
            (kernel if top[0] == "modules" or "kmod" in top else programs).append(path)
    said = _complaints_of_checkpatch(script, "kernel", kernel, NOT_FOR_KERNEL, "--strict")
    said += _complaints_of_checkpatch(script, "compat", compat, (*NOT_FOR_KERNEL, *NOT_FOR_COMPAT), "--strict")
    said += _complaints_of_checkpatch(script, "programs", programs, NOT_FOR_PROGRAMS)
    if said:
        raise Complaints("\n".join(said))


def _complaints_of_checkpatch(script, kind, files, ignored, *more):
    flags = [*more, "--no-tree", "--terse", "--show-types", "--no-summary",
             "--ignore", ",".join(("FILE_PATH_CHANGES", *ignored))]
    try:
        with not_passed(f"checkpatch-{kind}", files, lambda: (script, *flags)) as new:
            if not new:
                return []
            status, output = commands.run(["perl", script, *flags, "-f", *new], LIMIT_SECONDS, cwd=CHECKOUT)
            said = [line for line in output.splitlines() if not line.startswith("total: ")]
            if status or said:
                raise Complaints("\n".join(said) or f"checkpatch ended with status {status}")
    except Complaints as complaints:
        return [str(complaints)]
    return []


def shellcheck():
    """All scripts, each with the same that it may source; each takes a second."""
    version = _run(["shellcheck", "--version"])

    def common():
        beside = [path for path in sources() if path.name == ".shellcheckrc"]
        beside += [path for path in of_kind({".sh"}, rb"\b(ba)?sh\b") if not path.stat().st_mode & 0o100]
        return version, *(path.read_bytes() for path in beside)

    with not_passed("shellcheck", of_kind({".sh"}, rb"\b(ba)?sh\b"), common) as new:
        if new:
            _run(["shellcheck", "-x", "-P", "SCRIPTDIR", *new])


def _version(ruff_path):
    """The version in the name of its venv."""
    return [int(number) for number in re.findall(r"\d+", ruff_path.parents[1].name)]


def ruff():
    found = sorted(cache.CACHE.glob("venv-ruff-*/bin/ruff"), key=_version)
    if not found:
        raise Complaints("ruff is not in the cache: run tools/host-setup")
    _run([found[-1], "check", "--no-cache", "--line-length", str(LONGEST_PYTHON_LINE),
          "--select", "E,F,W,B", *of_kind({".py"}, rb"\bpython3?\b")])


def includes():
    """Directions: algo/ is pure, mswap and w2r do not know each other, compat/ alone knows versions."""
    bad = []
    for path in of_kind({".c", ".h"}, rb"$^"):
        name = path.relative_to(CHECKOUT)
        if name.parts[0] != "modules":
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            where = f"{name}:{number}:"
            if VERSION_TEST.search(line) and name.parts[1] != "compat":
                bad.append(f"{where} version test outside modules/compat")
            match = INCLUDE.match(line)
            if match:
                bad += [f"{where} {why}" for why in _bad_include(path, name, *match.groups())]
    if bad:
        raise Complaints("\n".join(bad))


def _bad_include(path, name, mark, target):
    if "algo" in name.parts and name.name != "pure.h":
        if mark == "<" or "/" in target or not (target == "pure.h" or (path.parent / target).exists()):
            yield f"algo/ includes {target}: only pure.h and its own headers are allowed"
    if target == "linux/version.h" and name.parts[1] != "compat":
        yield "linux/version.h outside modules/compat"
    module = name.parts[1]
    resolved = os.path.normpath(name.parent / target).split(os.sep)
    other = {"mswap": "w2r", "w2r": "mswap"}.get(module)
    if other and (resolved[:2] == ["modules", other] or f"{other}/" in target):
        yield f"{module} includes {target} of {other}"


def layout():
    """A licence line in every file, and files that can be read in a sitting: nothing that was built."""
    bad = []
    for path in sources():
        name = path.relative_to(CHECKOUT)
        data = path.read_bytes()
        if b"\0" in data:
            if path.suffix not in RECORDINGS:
                bad.append(f"{name}: not text")
            continue
        if not {path.suffix, path.name} & NO_SPDX and b"SPDX-License-Identifier:" not in data[:400]:
            bad.append(f"{name}: no SPDX-License-Identifier")
        if data.count(b"\n") > LONGEST_FILE:
            bad.append(f"{name}: {data.count(bytes([10]))} lines, more than {LONGEST_FILE}")
        if re.search(rb"\b(TODO|FIXME|XXX)\b", data) and path != pathlib.Path(__file__):
            bad.append(f"{name}: an open end (TODO)")
    if bad:
        raise Complaints("\n".join(bad))


def _anchors(page):
    """What a link may say behind its #: the headings of a page, as they are told in addresses."""
    known, fenced = [], False
    for line in page.read_text().splitlines():
        fenced ^= line.startswith("```")
        heading = HEADING.fullmatch(line)
        if heading and not fenced:
            name = re.sub(r"[^\w\- ]", "", re.sub(r"\]\([^)]*\)", "", heading[1]).lower()).replace(" ", "-")
            known.append(f"{name}-{known.count(name)}" if name in known else name)
    return known


def links():
    """Each link of a page to another one, or within it, leads somewhere; and one leads to each file of figures."""
    bad, linked = [], set()
    pages = of_kind({".md"}, rb"$^")
    anchors = {page.resolve(): _anchors(page) for page in pages}
    for page in pages:
        for link in LINK.findall(page.read_text()):
            if re.match(r"\w+:", link):
                continue
            path, _, anchor = link.partition("#")
            target = (page.parent / path if path else page).resolve()
            linked.add(target)
            if not target.exists():
                bad.append(f"{page.relative_to(CHECKOUT)}: {link}: no such file")
            elif anchor and anchor not in anchors.get(target, ()):
                bad.append(f"{page.relative_to(CHECKOUT)}: {link}: no such heading")
    bad += [f"{path.relative_to(CHECKOUT)}: no page links to it"
            for path in sources() if path.parent == CHECKOUT / "docs/figures" and path.resolve() not in linked]
    if bad:
        raise Complaints("\n".join(bad))


def executables():
    """What starts with #! can be started, and a selftest is not lost for want of a mode bit."""
    bad = [f"{path.relative_to(CHECKOUT)}: starts with #! but is not executable"
           for path in sources()
           if path.read_bytes()[:2] == b"#!" and not path.stat().st_mode & 0o100]
    if bad:
        raise Complaints("\n".join(bad))


def warnings(kernel):
    """All modules built for KERNEL with W=1 by its release's compiler, and looked through by sparse."""
    _build(f"warnings-{kernel}", kernel, WARNINGS)


def cloud(kernel):
    """All modules built for KERNEL as Debian configures it for clouds, with W=1."""
    _build(f"cloud-{kernel}", kernel, CLOUD)


def arm64():
    """The same for the default kernel on that machine, with W=1."""
    _cross("arm64", "arm64")


def rt():
    """The same for the default kernel with PREEMPT_RT, with W=1."""
    _cross("rt", "rt-amd64")


def ubuntu_22_04():
    """The same for Ubuntu's 5.15, with W=1."""
    _cross("ubuntu-22.04", "5.15")


def ubuntu_24_04():
    """The same for Ubuntu's 6.8, with W=1."""
    _cross("ubuntu-24.04", "6.8")


def _cross(name, flavour):
    kernel = cross.KERNELS[flavour]
    try:
        _run([LAB, "chroot", "--cross", flavour, "true"], LAB_SECONDS)
    except Complaints as complaints:
        # A mirror may well have nothing for other machines and kernels.
        if failed := re.search(r"Failed to fetch.*", str(complaints)):
            raise Missing(f"what it takes is not in the cache, and not to be had: {failed[0]}") from complaints
        raise
    _build(name, machines.DEFAULT.kernel, BUILD.format(kernel.headers, kernel.words), "--cross", flavour,
           beside=kernel.made())


def _build(name, kernel, command, *options, beside=()):
    _run([LAB, "build", "--kernel", kernel], LAB_SECONDS)

    def built():
        return [path for path in sources() if path.relative_to(CHECKOUT).parts[0] in ("Kbuild", "modules")]

    def common():
        # All files for each: one that goes is a change, too.
        whole = (part for path in built() for part in (str(path.relative_to(CHECKOUT)), path.read_bytes()))
        return *tree.made(machines.MACHINES[kernel]), *beside, command, *whole

    with not_passed(name, built(), common) as new:
        text = _run([LAB, "chroot", "--kernel", kernel, *options, "--", command], LAB_SECONDS) if new else ""
        if re.search(r"warning:|WARNING:|\berror:", text.replace(OTHER_COMPILER, "")):
            raise Complaints(text)


CHECKS = (layout, links, executables, includes, shellcheck, ruff, checkpatch, arm64, rt, ubuntu_22_04, ubuntu_24_04)
# Those that are given a kernel of the lab.
KERNEL_CHECKS = (warnings, cloud)
