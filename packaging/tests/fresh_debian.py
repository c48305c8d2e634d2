"""A fresh Debian in a folder, in which commands run apart from this machine."""

import os
import re
import shlex
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

INCLUDED = "ca-certificates,fonts-dejavu-core,python3,x11-utils,xauth,xdotool,xvfb"
USER = "tester"


def room(work: Path) -> Path:
    """Return where to unpack systems: in memory if there is plenty, since disks take minutes to remove them."""
    memory = Path("/dev/shm")
    available = re.search(r"MemAvailable: +(\d+)", Path("/proc/meminfo").read_text("utf-8"))
    plenty = available is not None and int(available[1]) > 8 << 20 and memory.is_dir()
    if not plenty or shutil.disk_usage(memory).free < 6 << 30 or os.statvfs(memory).f_flag & os.ST_NOEXEC:
        return work / "system"
    return memory / "mezzotint-system"


def bootstrapped(suite: str, kept: Path) -> Path:
    """Return the archive of a system, made by debootstrap the first time."""
    archive = kept / f"{suite}.tar"
    if not archive.is_file():
        fresh = kept / suite
        shutil.rmtree(fresh, ignore_errors=True)
        command = ["debootstrap", "--variant=minbase", f"--include={INCLUDED}", suite, str(fresh)]
        with (kept / f"{suite}.log").open("w") as log:
            subprocess.run([*command, "http://deb.debian.org/debian"], stdout=log, stderr=log, check=True)
        subprocess.run(["tar", "-C", fresh, "-cf", archive.with_suffix(".part"), "."], check=True)
        archive.with_suffix(".part").replace(archive)
        shutil.rmtree(fresh)
    return archive


@dataclass(frozen=True, kw_only=True)
class Debian:
    """A system; `shared` are this machine's folders that it sees, read-only."""

    root: Path
    shared: dict[Path, str] = field(default_factory=dict)

    @classmethod
    def make(cls, archive: Path, root: Path, shared: dict[Path, str]) -> "Debian":
        """Unpack a system that debootstrap made once."""
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir(parents=True)
        subprocess.run(["tar", "-C", root, "-xf", archive], check=True)
        system = cls(root=root, shared=shared)
        for name in ("resolv.conf", "hosts"):
            shutil.copy(Path("/etc", name), root / "etc" / name)
        for place in shared.values():
            (root / place.lstrip("/")).mkdir(parents=True, exist_ok=True)
        system.run(f"useradd -m {USER}")
        return system

    def run(self, command: str, *, user: str = "root", network: bool = False, code: int = 0, seconds: int = 600) -> str:
        """Run a shell command, by default without network; returns what it printed, and demands its exit code."""
        place = shlex.quote(str(self.root))
        mounts = [f"mount -t proc proc {place}/proc", f"mount --rbind /dev {place}/dev"]
        for folder, inside in self.shared.items():
            target = shlex.quote(f"{self.root}{inside}")
            mounts.append(f"mount --bind {shlex.quote(str(folder))} {target} && mount -o remount,ro,bind {target}")
        home = "/root" if user == "root" else f"/home/{user}"
        environment = f"env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 HOME={home}"
        inside = f"{environment} sh -c {shlex.quote(command)}"
        if user != "root":
            inside = f"setpriv --reuid {user} --regid {user} --init-groups {inside}"
        script = " && ".join([*mounts, f"exec chroot {place} {inside}"])
        alone = ["unshare", "--mount", "--pid", "--fork", "--kill-child", *([] if network else ["--net"])]
        begun = time.monotonic()
        done = subprocess.run(
            [*alone, "sh", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds
        )
        print(f"  {time.monotonic() - begun:6.1f} s  {user}: {' '.join(command.split())[-90:]}", flush=True)
        if done.returncode != code:
            raise AssertionError(f"{command}\nended with {done.returncode} instead of {code}:\n{done.stdout}")
        return done.stdout

    def home(self, path: str) -> Path:
        """A path in the user's home."""
        return self.root / "home" / USER / path
