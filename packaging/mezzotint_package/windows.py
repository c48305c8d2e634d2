"""Windows: the installer and the program that it starts, both made by NSIS."""

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from mezzotint_package import icons
from mezzotint_package.archives import Member
from mezzotint_package.errors import PackagingError
from mezzotint_package.payload import laid_out


def installer(project: Path, payload: Mapping[str, Member], version: str, epoch: int) -> bytes:
    """Return the installer."""
    program = shutil.which("makensis")
    if program is None:
        raise PackagingError("the installer needs makensis; on Debian and Ubuntu: sudo apt-get install nsis")
    source = project / "packaging/windows"
    python = json.loads(payload["payload.json"].data)["python"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        laid_out(payload, folder / "payload")
        (folder / "mezzotint.ico").write_bytes(icons.ico(icons.program_drawing(project)))
        (folder / "payload/job.ico").write_bytes(icons.ico(icons.job_drawing(project)))
        (folder / "payload/mezzotint.cmd").write_bytes(
            (source / "mezzotint.cmd").read_text("utf-8").replace("@PYTHON@", python).replace("\n", "\r\n").encode()
        )
        for path in (folder, *folder.rglob("*")):
            os.utime(path, (epoch, epoch))
        known = {"VERSION": version, "NUMBERS": numbers(version), "PYTHON": python, "EPOCH": str(epoch)}
        for script, product in (("launcher.nsi", "payload/Mezzotint.exe"), ("setup.nsi", "Mezzotint-setup.exe")):
            _made(program, source / script, folder, known | {"PRODUCT": product})
            os.utime(folder / product, (epoch, epoch))
        return (folder / "Mezzotint-setup.exe").read_bytes()


def numbers(version: str) -> str:
    """Return a version as Windows wants it: four numbers."""
    found = re.findall(r"\d+", version)[:3]
    return ".".join([*found, "0", "0", "0", "0"][:4])


def _made(program: str, script: Path, folder: Path, known: Mapping[str, str]) -> None:
    defines = [f"-D{name}={value}" for name, value in known.items()]
    told = dict(os.environ, SOURCE_DATE_EPOCH=known["EPOCH"], TZ="UTC")
    command = [program, "-V2", "-NOCD", "-INPUTCHARSET", "UTF8", *defines, str(script)]
    done = subprocess.run(command, cwd=folder, env=told, check=False)
    if done.returncode:
        raise PackagingError(f"makensis ended with {done.returncode}; its reason is above")
