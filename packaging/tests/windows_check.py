"""The installer under Wine: files, shortcut, registry, its program with a stand-in for uv, and uninstalling."""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

from mezzotint_package.fetched import sha256

_REMOVAL = r"HKCU\Software\Microsoft\Windows\CurrentVersion\Uninstall\Mezzotint"
_OPENED = r"HKCU\Software\Classes\Applications\Mezzotint.exe"
# A program in the place of uv.exe and pythonw.exe: prints a path, and writes down how it was called.
_STAND_IN = r"""
Unicode true
Target amd64-unicode
OutFile "${PRODUCT}"
SilentInstall silent
RequestExecutionLevel user
Section
  System::Call 'kernel32::GetCommandLine() t .r0'
  FileOpen $1 "$EXEDIR\called.txt" a
  FileSeek $1 0 END
  FileWriteUTF16LE $1 "$0$\r$\n"
  FileClose $1
  ReadEnvStr $3 MEZZOTINT_SETUP_PAYLOAD
  FileOpen $1 "$EXEDIR\payload.txt" w
  FileWriteUTF16LE $1 "$3"
  FileClose $1
  System::Call 'kernel32::GetStdHandle(i -11) p .r2'
  StrCpy $4 "$EXEDIR\python.exe"
  StrLen $5 $4
  System::Call 'kernel32::WriteFile(p r2, m r4, i r5, *i .r6, p 0)'
SectionEnd
"""


class _Wine:
    def __init__(self, prefix: Path) -> None:
        shutil.rmtree(prefix, ignore_errors=True)
        self._environment = {name: text for name, text in os.environ.items() if name != "DISPLAY"} | {
            "WINEPREFIX": str(prefix),
            "WINEDEBUG": "-all",
            "WINEDLLOVERRIDES": "mscoree=;mshtml=",
        }
        self.run("wineboot", "-i")
        self.run("winecfg", "-v", "win10")
        [self.home] = [one for one in (prefix / "drive_c/users").iterdir() if one.name != "Public"]

    def run(self, *words: str | Path, code: int | None = 0) -> str:
        begun = time.monotonic()
        done = subprocess.run(
            ["wine", *map(str, words)], env=self._environment, capture_output=True, text=True, timeout=300
        )
        subprocess.run(["wineserver", "-w"], env=self._environment, timeout=300)  # an ending one fails the next command
        print(f"  {time.monotonic() - begun:6.1f} s  wine {' '.join(map(str, words))[-80:]}", flush=True)
        assert code is None or done.returncode == code, f"{words}: {done.returncode} {done.stdout} {done.stderr}"
        return done.stdout


def check(installer: Path, work: Path) -> dict[str, float]:
    """Install, look, start, uninstall; returns figures."""
    wine = _Wine(work / "wine")
    begun = time.monotonic()
    wine.run(installer, "/S")
    seconds = time.monotonic() - begun
    local = wine.home / "AppData/Local"
    folder = local / "Programs/Mezzotint"
    table = json.loads((folder / "payload.json").read_text("utf-8"))
    for name, digest in table["files"].items():
        assert sha256(folder / name) == digest, name
    for name in ("Mezzotint.exe", "mezzotint.cmd", "job.ico", "uninstall.exe"):
        assert (folder / name).is_file()
    shortcut = wine.home / "AppData/Roaming/Microsoft/Windows/Start Menu/Programs/Mezzotint.lnk"
    assert shortcut.is_file()
    assert table["version"] in wine.run("reg", "query", _REMOVAL, "/v", "DisplayVersion")
    assert 'Mezzotint.exe" "%1"' in wine.run("reg", "query", rf"{_OPENED}\shell\open\command", "/ve")
    _started(wine, folder, work)

    kept = [local / "mezzotint/models/mine.safetensors", local / "mezzotint/config.toml"]
    made = local / "mezzotint/engine/versions/0.1.0-cpu/python.exe"
    for path in (*kept, made, wine.home / "Pictures/house.png"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    wine.run(folder / "uninstall.exe", "/S", f"_?=C:\\users\\{wine.home.name}\\AppData\\Local\\Programs\\Mezzotint")
    assert all(path.is_file() for path in (*kept, wine.home / "Pictures/house.png"))
    assert not made.parents[2].exists()
    assert not shortcut.exists()
    assert not (folder / "Mezzotint.exe").exists()
    wine.run("reg", "query", _REMOVAL, code=1)
    wine.run("reg", "query", _OPENED, code=1)
    return {"nsis_mb": installer.stat().st_size / 1e6, "nsis_seconds": seconds}


def _started(wine: _Wine, folder: Path, work: Path) -> None:
    """Mezzotint.exe asks uv for Python and starts the bootstrap with the files that it was given."""
    script, made = work / "stand_in.nsi", work / "stand_in.exe"
    script.write_text(_STAND_IN, "utf-8")
    subprocess.run(["makensis", "-V1", f"-DPRODUCT={made}", script], check=True)
    real = (folder / "uv.exe").read_bytes()
    for name in ("uv.exe", "pythonw.exe"):
        shutil.copy(made, folder / name)
    wine.run(folder / "Mezzotint.exe", r"C:\a job.mezzotint.toml")
    deadline = time.monotonic() + 30
    called = ""
    while "mezzotint_setup" not in called and time.monotonic() < deadline:
        time.sleep(0.2)
        found = folder / "called.txt"
        called = found.read_bytes().decode("utf-16-le") if found.is_file() else ""
    assert "python find" in called, called
    assert 'pythonw.exe" -m mezzotint_setup start' in called, called
    assert r"C:\a job.mezzotint.toml" in called
    assert (folder / "payload.txt").read_bytes().decode("utf-16-le").endswith("Mezzotint")
    (folder / "uv.exe").write_bytes(real)
    for name in ("pythonw.exe", "called.txt", "payload.txt"):
        (folder / name).unlink()
