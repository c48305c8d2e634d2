"""Build the extension that calls the kernels' library from Python; needs g++ and Python's headers."""

import hashlib
import subprocess
import sysconfig
from pathlib import Path

import pytest
from emulator_build import KERNELS, ROOT
from kept_files import kept

FOLDER = KERNELS / "extension"
FLAGS = ("-std=c++17", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror")
SANITIZED = ("-fsanitize=undefined", "-fno-sanitize-recover=all")


def build_extension() -> Path:
    """Return the extension's file, cached by its sources; skips the test if Python's headers are missing."""
    headers = Path(sysconfig.get_path("include"))
    if not (headers / "Python.h").is_file():
        pytest.skip("Python's headers are not here: install python3-dev")
    made_of = [*sorted(FOLDER.iterdir()), KERNELS / "csrc" / "api.h"]
    state = hashlib.sha256(repr((FLAGS, SANITIZED, str(headers), [path.read_bytes() for path in made_of])).encode())
    words = ["g++", *FLAGS, *SANITIZED, "-Wno-missing-field-initializers", f"-I{headers}"]

    def make(target: Path) -> None:
        subprocess.run([*words, str(FOLDER / "attention_calls.cpp"), "-o", str(target)], check=True)

    return kept(ROOT / "build" / "extension" / f"{state.hexdigest()[:24]}.abi3.so", make)
