"""The Debian package in fresh systems: install, window, first image, update, broken update, going back, removal."""

import json
import re
import shutil
import subprocess
import sys
import time
import tomllib
import urllib.request
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import window_check
from changed_wheel import changed
from fresh_debian import Debian, room

from mezzotint_package.archives import Member
from mezzotint_package.fetched import sha256
from mezzotint_package.payload import Parts, laid_out, payload

SUITES = ("bookworm", "trixie")
_IMAGE = "mezzotint generate 'a red house by the sea' -m starter-dit --steps 2 --seed 1 -o Pictures/{name}.png"
_STARTED = """
xvfb-run -a sh -c 'mezzotint-app & app=$!; for n in $(seq 120); do
  xwininfo -root -tree 2>/dev/null | grep -q "\\"Mezzotint" && { kill $app; wait $app; exit 0; }; sleep 1; done; exit 1'
"""


def check(deb: Path, systems: Sequence[Future[Path]], work: Path) -> dict[str, float]:
    """Go through everything in each system, which debootstrap makes meanwhile; returns figures."""
    unpacked = work / "unpacked"
    shutil.rmtree(unpacked, ignore_errors=True)
    _unpack(deb, unpacked)
    library = unpacked / "usr/lib/mezzotint"
    wheels = work / "wheels"
    begun = time.monotonic()
    _fetch(library / "locks", wheels)
    figures: dict[str, float] = {"wheels_seconds": time.monotonic() - begun, "deb_mb": deb.stat().st_size / 1e6}
    version = json.loads((library / "payload.json").read_text("utf-8"))["version"]
    newer, broken = f"{version}.post1", f"{version}.post2"
    update = _update(deb, _payload(library, newer, work), newer, work / "update")
    shutil.rmtree(work / "broken", ignore_errors=True)
    laid_out(_payload(library, broken, work, broken=True), work / "broken")
    shared = {wheels: "/wheels", deb.parent: "/deb", update.parent: "/update", work / "broken": "/broken"}
    shared[Path(sys.base_prefix)] = "/opt/python"  # stands in for a Python that uv would download
    shared[Path(window_check.__file__).parent] = window_check.TESTS
    root = room(work)
    try:
        for suite, archive in zip(SUITES, systems, strict=True):
            print(suite, flush=True)
            system = Debian.make(archive.result(), root, shared)
            pictures = work / "screenshots" if suite == SUITES[0] else None
            found = _whole_life(system, deb, update, library, pictures)
            figures |= {f"{suite}_{name}": value for name, value in found.items()}
    finally:
        shutil.rmtree(root, ignore_errors=True)
    return figures


def _whole_life(system: Debian, deb: Path, update: Path, library: Path, pictures: Path | None) -> dict[str, float]:
    version, newer = deb.name.split("_")[1], update.name.split("_")[1]
    system.run("apt-get update -q", network=True)
    system.run(f"apt-get install -q -y --no-install-recommends /deb/{deb.name}", network=True)
    system.run("ldconfig -p | grep -q libxcb-icccm && ls -l /usr/bin/mezzotint-app")

    python = _python(system, library)

    def do(command: str, code: int = 0) -> str:
        return system.run(f"{python} cd; mkdir -p Pictures; {command}", user="tester", code=code)

    assert "no engine is installed yet" in do(_IMAGE.format(name="none"), code=1)
    begun = time.monotonic()
    do("mezzotint-setup install --backend window --wheels /wheels")
    do(_STARTED)
    window = time.monotonic() - begun
    begun = time.monotonic()
    if pictures is not None:
        window_check.check(system, "/wheels", pictures, python)
    else:
        do("mezzotint-setup install --backend cpu --wheels /wheels")
    do(_IMAGE.format(name="first"))
    first = time.monotonic() - begun
    do(_STARTED)
    disk = _bytes(system.home(".local/share/mezzotint"))
    assert do("mezzotint --version").split()[-1] == version

    system.run(f"apt-get install -q -y --no-install-recommends /update/{update.name}", network=True)
    assert do("mezzotint --version").split()[-1] == version, "what is in use stays until the new version is proven"
    do("mezzotint-setup install --backend cpu --wheels /wheels")
    assert do("mezzotint --version").split()[-1] == newer
    do(_IMAGE.format(name="second"))

    said = do("mezzotint-setup install --backend cpu --payload /broken --wheels /wheels", code=1)
    assert "broken on purpose" in said
    assert do("mezzotint --version").split()[-1] == newer
    do(_IMAGE.format(name="third"))
    do("mezzotint-setup back")
    assert do("mezzotint --version").split()[-1] == version
    do("mkdir -p .local/share/mezzotint/models .config/mezzotint; touch .config/mezzotint/mine.toml")
    do("touch .local/share/mezzotint/models/mine.safetensors")

    environment = python.replace("export ", "").rstrip("; ")
    system.run(f"env {environment} apt-get remove -q -y mezzotint")
    assert not system.home(".local/share/mezzotint/engine").exists()
    assert not (system.root / "usr/lib/mezzotint").exists()
    system.run("apt-get purge -q -y mezzotint")
    assert "mezzotint" not in system.run("dpkg-query -W -f '${Package}\\n'")
    for name in ("first", "second", "third"):
        assert system.home(f"Pictures/{name}.png").is_file()
    assert system.home(".local/share/mezzotint/models/mine.safetensors").is_file()
    assert system.home(".config/mezzotint/mine.toml").is_file()
    return {"seconds_to_window": window, "seconds_to_first_image": first, "disk_mb": disk / 1e6}


def _python(system: Debian, library: Path) -> str:
    """What is set where the locks have no torch for the system's own Python, as without PyTorch's index."""
    packages = tomllib.loads((library / "locks/pylock.cpu.toml").read_text("utf-8"))["packages"]
    [torch] = [one for one in packages if one["name"] == "torch"]
    own = system.run("python3 -c 'import sys; print(\"cp%d%d\" % sys.version_info[:2])'").strip()
    if any(f"-{own}-" in wheel["name"] for wheel in torch["wheels"]):
        return ""
    program = f"/opt/python/bin/python{sys.version_info[0]}.{sys.version_info[1]}"
    return f"export MEZZOTINT_PYTHON={program} LD_LIBRARY_PATH=/opt/python/lib; "


def _update(deb: Path, payload: dict[str, Member], version: str, folder: Path) -> Path:
    """Return the package with another payload, quickly made: not compressed."""
    shutil.rmtree(folder, ignore_errors=True)
    inside, made = folder / "inside", folder / f"mezzotint_{version}_amd64.deb"
    inside.parent.mkdir()
    subprocess.run(["dpkg-deb", "-R", deb, inside], check=True)
    shutil.rmtree(inside / "usr/lib/mezzotint")
    laid_out(payload, inside / "usr/lib/mezzotint")
    control = inside / "DEBIAN/control"
    control.write_text(re.sub("(?m)^Version: .*", f"Version: {version}", control.read_text("utf-8")), "utf-8")
    (inside / "DEBIAN/md5sums").unlink()
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Znone", "-b", inside, made], check=True, capture_output=True)
    shutil.rmtree(inside)
    return made


def _payload(library: Path, version: str, work: Path, *, broken: bool = False) -> dict[str, Member]:
    [wheel] = (library / "wheels").glob("mezzotint-*.whl")
    return payload(
        Parts(
            version=version,
            python=json.loads((library / "payload.json").read_text("utf-8"))["python"],
            uv=(library / "uv").read_bytes(),
            uv_name="uv",
            wheels=[changed(wheel, version, work, broken=broken)],
            locks={path.name.split(".")[1]: path.read_text("utf-8") for path in (library / "locks").iterdir()},
            bootstrap=library / "mezzotint_setup",
        )
    )


def _fetch(locks: Path, folder: Path) -> None:
    """Get the wheels of the window and of the CPU build that this machine's Python can use."""
    folder.mkdir(parents=True, exist_ok=True)
    wheels: dict[str, dict[str, Any]] = {}
    for backend in ("window", "cpu"):
        for package in tomllib.loads((locks / f"pylock.{backend}.toml").read_text("utf-8"))["packages"]:
            wheels |= {wheel["name"]: wheel for wheel in package["wheels"] if _is_used(wheel["name"])}
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda wheel: _got(wheel, folder / wheel["name"]), wheels.values()))


def _is_used(name: str) -> bool:
    other = re.search(r"-cp3(\d+)-cp3\1-", name)
    return not other or int(other[1]) in (11, 13, sys.version_info[1])  # Debian's, and the stand-in


def _got(wheel: dict[str, Any], path: Path) -> None:
    if path.is_file() and sha256(path) == wheel["hashes"]["sha256"]:
        return
    with urllib.request.urlopen(wheel["url"], timeout=120) as answer, path.open("wb") as file:
        shutil.copyfileobj(answer, file)
    assert sha256(path) == wheel["hashes"]["sha256"], wheel["url"]


def _unpack(deb: Path, folder: Path) -> None:
    subprocess.run(["dpkg-deb", "-x", deb, folder], check=True)


def _bytes(folder: Path) -> int:
    seen: set[int] = set()
    total = 0
    for path in folder.rglob("*"):
        state = path.lstat()
        if state.st_ino not in seen:  # uv links its cache
            seen.add(state.st_ino)
            total += state.st_blocks * 512
    return total
