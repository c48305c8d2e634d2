"""The wheel without the checkout: by pip, by `uv tool install`, and in a container; locks against a local index."""

import http.server
import os
import shutil
import subprocess
import sys
import threading
import time
import venv
import zipfile
from pathlib import Path

from mezzotint_package import fetched, locks
from mezzotint_package.targets import TARGETS

_IMAGE = ("generate", "a red house by the sea", "-m", "starter-dit", "--steps", "2", "-o")


def check(wheel: Path, project: Path, work: Path) -> dict[str, float]:
    """Install and run it in each way."""
    pinned = work / "constraints.txt"
    shutil.copy(project / "constraints.txt", pinned)
    for name in ("clean", "tools", "home"):
        shutil.rmtree(work / name, ignore_errors=True)
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "MEZZOTINT", "VIRTUAL_ENV"))
    }
    environment |= {
        "HOME": str(work / "home"),
        "QT_QPA_PLATFORM": "offscreen",
        "XDG_DATA_HOME": "",
        "XDG_CONFIG_HOME": "",
    }
    (work / "home").mkdir()

    def run(*words: str | Path) -> str:
        begun = time.monotonic()
        done = subprocess.run(words, cwd=work / "home", env=environment, check=True, capture_output=True, text=True)
        print(f"  {time.monotonic() - begun:6.1f} s  {' '.join(map(str, words))[-90:]}", flush=True)
        return done.stdout

    venv.create(work / "clean", with_pip=True)
    scripts = work / "clean/bin"
    run(scripts / "pip", "install", "-q", "--no-compile", "-c", pinned, f"mezzotint[app] @ {wheel.as_uri()}")
    where = run(scripts / "python", "-c", "import mezzotint; print(mezzotint.__file__)")
    assert where.startswith(str(work / "clean")), where
    run(scripts / "mezzotint", *_IMAGE, work / "home/pip.png")
    assert "Mezzotint" in run(scripts / "mezzotint-app", "--version")

    uv = fetched.uv_here(work / "downloads", TARGETS["linux"])
    environment |= {"UV_TOOL_DIR": str(work / "tools"), "UV_TOOL_BIN_DIR": str(work / "tools/bin"), "UV_NO_CONFIG": "1"}
    wanted = f"mezzotint[app] @ {wheel.as_uri()}"
    run(uv, "tool", "install", "-q", "-p", sys.executable, "-c", pinned, *locks.configured_index(), wanted)
    run(work / "tools/bin/mezzotint", *_IMAGE, work / "home/uv.png")
    assert "Mezzotint" in run(work / "tools/bin/mezzotint-app", "--version")
    assert all((work / "home" / name).stat().st_size > 1000 for name in ("pip.png", "uv.png"))
    return {"wheel_mb": wheel.stat().st_size / 1e6, "pip_mb": _bytes(work / "clean") / 1e6}


def check_locks(project: Path, work: Path) -> dict[str, float]:
    """Lock against an index in the form of PyTorch's, whose pages have hashes and no sizes."""
    served = work / "index"
    shutil.rmtree(served, ignore_errors=True)
    version = next(
        line for line in (project / "constraints.txt").read_text().splitlines() if line.startswith("torch==")
    )
    for folder, needs in (("cu130", ["nvidia-cublas==13.1"]), ("cpu", [])):
        local = f"{version[7:]}+{folder}"
        for python in locks.PYTHONS:
            tag = "cp" + python.replace(".", "")
            _wheel(served / folder / "torch", f"torch-{local}-{tag}-{tag}-manylinux_2_28_x86_64.whl", needs)
    _wheel(served / "cu130/nvidia-cublas", "nvidia_cublas-13.1-py3-none-manylinux_2_27_x86_64.whl", [])
    for page in {path.parent for path in served.rglob("*.whl")}:
        links = (f'<a href="{each.name}#sha256={fetched.sha256(each)}">{each.name}</a>' for each in page.glob("*.whl"))
        (page / "index.html").write_text("<!DOCTYPE html>" + "<br>".join(sorted(links)))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    _Handler.folder = str(served)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        base = f"http://127.0.0.1:{server.server_port}"
        for backend in ("cpu", "cu130"):
            index = locks.index_of(TARGETS["linux"], backend, base)
            uv = fetched.uv_here(work / "downloads", TARGETS["linux"])
            packages = locks.Resolver(uv=uv, project=project, index=index).lock(TARGETS["linux"], backend)
            [torch] = [one for one in packages if one.name == "torch"]
            assert torch.version == f"{version[7:]}+{backend}"
            assert len(torch.wheels) == len(locks.PYTHONS)
            assert all(wheel.size == (served / backend / "torch" / wheel.name).stat().st_size for wheel in torch.wheels)
            assert ("nvidia-cublas" in {one.name for one in packages}) == (backend == "cu130")
            assert {wheel.url for wheel in torch.wheels} == set(locks.local([torch]))
    finally:
        server.shutdown()
    return {}


class _Handler(http.server.SimpleHTTPRequestHandler):
    folder = ""

    def translate_path(self, path: str) -> str:
        return self.folder + path.replace("%2B", "+").split("#")[0]

    def log_message(self, *_: object) -> None:
        pass


def _wheel(folder: Path, name: str, needs: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    package, version, *_ = name.split("-")
    info = f"{package}-{version}.dist-info"
    lines = [f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n"]
    lines += [f"Requires-Dist: {need}\n" for need in needs]
    with zipfile.ZipFile(folder / name, "w") as archive:
        archive.writestr(f"{info}/METADATA", "".join(lines))
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: false\n")
        archive.writestr(f"{info}/RECORD", name)


def _bytes(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())
