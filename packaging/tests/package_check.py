"""`make package-check`: builds the installers, then installs, updates, breaks and removes them; as root on Debian."""

import argparse
import functools
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import debian_check
import structure_check
import wheel_check
import windows_check
from fresh_debian import bootstrapped

from mezzotint_package import fetched
from mezzotint_package.release import SYSTEMS, Options, Release
from mezzotint_package.targets import TARGETS

_PROJECT = Path(__file__).parents[2]
_NEEDED: dict[str, tuple[str, ...]] = {
    "wheel": (),
    "locks": (),
    "deb": ("debootstrap", "debian-archive-keyring"),
    "nsis": ("nsis", "wine", "wine64"),
    "appimage": ("squashfs-tools", "desktop-file-utils", "appstream"),
    "macos": ("unzip",),
}


def main() -> int:
    """Check every kind, or those that were named."""
    parser = argparse.ArgumentParser(prog="make package-check", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=_NEEDED, default=list(_NEEDED))
    parser.add_argument("--built", type=Path, help="folder of installers to check, in place of building them")
    parser.add_argument("--work", type=Path, default=_PROJECT / "build/package-check")
    chosen = parser.parse_args()
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        print("make package-check needs root on Debian or Ubuntu: sudo make package-check", file=sys.stderr)
        return 2
    begun = time.monotonic()
    _install([name for kind in chosen.only for name in _NEEDED[kind]])
    work = chosen.work.absolute()
    work.mkdir(parents=True, exist_ok=True)
    pool = ThreadPoolExecutor(2)
    systems = [pool.submit(bootstrapped, suite, work) for suite in debian_check.SUITES if "deb" in chosen.only]
    checks: dict[str, Callable[[Path], dict[str, float]]] = {
        "wheel": lambda path: wheel_check.check(path, _PROJECT, work),
        "deb": lambda path: debian_check.check(path, systems, work),
        "nsis": lambda path: windows_check.check(path, work),
        "appimage": lambda path: structure_check.check_appimage(path, work),
        "macos": lambda path: structure_check.check_macos(path, work),
    }
    figures: dict[str, float] = {}
    for kind in chosen.only:
        since = time.monotonic()
        if kind == "locks":
            wheel_check.check_locks(_PROJECT, work)
        else:
            path = _built(kind, chosen.built) if chosen.built else _twice(kind, work)
            print(path, flush=True)
            figures |= checks[kind](path)
        print(f"{kind}: {time.monotonic() - since:.0f} s", flush=True)
    figures["seconds"] = time.monotonic() - begun
    print(json.dumps({name: round(value, 1) for name, value in figures.items()}, indent=1))
    return 0


def _twice(kind: str, work: Path) -> Path:
    """Build an installer two times, which must come out the same."""
    runtime = structure_check.runtime(work) if kind == "appimage" else None
    locks = _locks(SYSTEMS[kind], work) if kind in SYSTEMS else None
    options = Options(project=_PROJECT, output=work / "built", work=work / "downloads", runtime=runtime, locks=locks)
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(
            lambda one: Release(one, print).build(kind), (options, replace(options, output=work / "again"))
        )
    assert first.read_bytes() == second.read_bytes(), f"{first.name} came out in two ways"
    return first


@functools.cache
def _locks(system: str, work: Path) -> Path:
    """Lock a system's packages once, and get its uv."""
    downloads = work / "downloads"
    fetched.uv(TARGETS[system], downloads)
    return Release(Options(project=_PROJECT, output=work, work=downloads), print).write_locks([system])


def _built(kind: str, folder: Path) -> Path:
    endings = {"wheel": "mezzotint-*.whl", "nsis": "*-setup.exe", "appimage": "*.AppImage", "macos": "*-macos-*.zip"}
    [path] = folder.absolute().glob(endings.get(kind, f"*.{kind}"))
    return path


def _install(packages: list[str]) -> None:
    listed = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Abbrev}\n"], capture_output=True, text=True
    )
    there = {line.split()[0] for line in listed.stdout.splitlines() if line.split()[1:] == ["ii"]}
    missing = [name for name in packages if name not in there]
    if missing:
        environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
        subprocess.run(["apt-get", "update", "-q"], check=True)
        command = ["apt-get", "install", "-q", "-y", "--no-install-recommends", *missing]
        subprocess.run(command, env=environment, check=True)


if __name__ == "__main__":
    sys.exit(main())
