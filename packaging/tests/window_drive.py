"""Runs inside a fresh Debian: the installed program by its keys alone, from the first start to the first image.

python3 window_drive.py FOLDER_OF_WHEELS FOLDER_OF_PICTURES WIDTHxHEIGHT
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

_SECONDS = 300.0  # the longest wait
_PROMPT = "a red house by the sea at dusk"
_IMAGES = Path.home() / "Pictures/Mezzotint"
_VERSIONS = Path.home() / ".local/share/mezzotint/engine"


class Screen:
    """A display without a monitor, whose contents are a file."""

    def __init__(self, pictures: Path, size: str) -> None:
        self._pictures, self._size = pictures, size
        self._file = pictures / "Xvfb_screen0"
        pictures.mkdir(parents=True)
        command = ["Xvfb", "-displayfd", "1", "-screen", "0", f"{size}x24", "-nocursor", "-fbdir", str(pictures)]
        display = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert display.stdout is not None
        os.environ["DISPLAY"] = f":{display.stdout.readline().strip()}"

    def window(self, name: str, *, other: str = "") -> str:
        """Wait for a window, and give it the whole screen and the keys, as a window manager would."""

        def found() -> str:
            there = run("xdotool", "search", "--onlyvisible", "--name", name).split()
            return next((one for one in there if one != other), "")

        window = waited(found, f"no window {name}")
        if name.startswith("^Mezzotint"):
            run("xdotool", "windowmove", window, "0", "0", "windowsize", "--sync", window, *self._size.split("x"))
        run("xdotool", "windowfocus", "--sync", window)
        self.settled()
        return window

    def settled(self) -> None:
        """Wait until nothing changes on the screen for two seconds, but a cursor that blinks."""
        seen: deque[str] = deque(maxlen=8)

        def same() -> bool:
            time.sleep(0.15)
            seen.append(hashlib.sha256(self._file.read_bytes()).hexdigest())
            return len(seen) == seen.maxlen and len(set(seen)) <= 2

        waited(same, "the screen does not come to rest")

    def keep(self, name: str) -> None:
        """Keep a picture of the screen."""
        shutil.copy(self._file, self._pictures / f"{name}.xwd")
        print(f"{time.monotonic():.1f} {name}", flush=True)


def run(*words: str) -> str:
    """Run a program and return what it said."""
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()


def keys(*names: str) -> None:
    """Press keys."""
    run("xdotool", "key", "--delay", "80", *names)


def write(text: str) -> None:
    """Type."""
    run("xdotool", "type", "--delay", "15", text)


def waited(condition: Callable[[], object], trouble: str) -> str:
    """Wait for what a condition returns."""
    deadline = time.monotonic() + _SECONDS
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise TimeoutError(trouble)
        time.sleep(0.1)
    return str(found)


def in_use() -> str:
    """The version in use."""
    return str(json.loads((_VERSIONS / "current.json").read_text("utf-8"))["version"])


def main() -> None:
    """Go through the steps."""
    wheels, pictures, size = sys.argv[1:]
    screen = Screen(Path(pictures), size)
    subprocess.Popen(["mezzotint-app"])
    first = screen.window("^Mezzotint$")
    screen.keep("engine")
    keys("Tab", "Return")  # the button after "Install": from a folder of packages
    screen.window("^Folder of packages$")
    write(wheels)
    screen.keep("folder")
    keys("Return")
    waited(lambda: list(_VERSIONS.glob("versions/.*.part")), "it is not installed")
    run("xdotool", "windowfocus", "--sync", first)
    screen.keep("installing")
    waited(lambda: in_use().endswith("-cpu"), "the engine is not in use")
    screen.settled()
    screen.keep("ready")
    keys("Return")  # start now
    screen.window("^Mezzotint$", other=first)
    keys("ctrl+a")
    write(_PROMPT)
    screen.settled()
    screen.keep("prompt")
    keys("Return")
    waited(lambda: list(_IMAGES.rglob("*.png")), "no image was made")
    screen.settled()
    screen.keep("image")


if __name__ == "__main__":
    main()
