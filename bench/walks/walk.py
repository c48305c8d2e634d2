"""Walk through the real program as a user does: by pointer and keyboard, finding controls as a screen reader does.

python3 bench/walks/walk.py [FLOW]... [--size 1280x720] [--theme dark] [--output build/walk]

A flow is a text file beside this one with a command on each line (see COMMANDS). It begins with an empty home folder,
ends at a control that cannot be found by its accessible name, and leaves screenshots to look at. The Python of the
system runs it, with these packages of Debian:
at-spi2-core dbus gir1.2-atspi-2.0 imagemagick openbox python3-gi xdotool xvfb
"""

import argparse
import itertools
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

FLOWS = Path(__file__).resolve().parent
ROOT = FLOWS.parents[1]
PROGRAM = (str(ROOT / ".venv/bin/mezzotint"), "app")
_BAR = 22  # pixels of a window's title bar
CLICKS = {"click": (1, 1), "rclick": (3, 1), "dclick": (1, 2), "hover": (1, 0)}  # button, times


class Box(NamedTuple):
    """A rectangle on the screen, in pixels."""

    x: int
    y: int
    width: int
    height: int

    def at(self, across: float = 0.5, down: float = 0.5) -> tuple[int, int]:
        """Return the point at fractions of the width and the height."""
        return round(self.x + across * self.width), round(self.y + down * self.height)


class Missing(Exception):
    """A control that is not there."""


class Desktop:
    """A screen, a window manager and the buses, for programs with a home folder of their own."""

    def __init__(self, home: Path, size: str) -> None:
        self._started: list[subprocess.Popen[Any]] = []
        os.environ |= {"HOME": str(home), "QT_QPA_PLATFORM": "xcb", "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1"}
        for name in ("CONFIG", "DATA", "CACHE", "STATE"):
            os.environ.pop(f"XDG_{name}_HOME", None)
        runtime = home / ".run"
        runtime.mkdir(mode=0o700)
        os.environ["XDG_RUNTIME_DIR"] = str(runtime)
        screen = self.start("Xvfb", "-displayfd", "1", "-screen", "0", f"{size}x24", "-nolisten", "tcp", reads=True)
        os.environ["DISPLAY"] = f":{_line(screen)}"
        bus = self.start("dbus-daemon", "--session", "--nofork", "--print-address", reads=True)
        os.environ["DBUS_SESSION_BUS_ADDRESS"] = _line(bus)
        self.start("/usr/libexec/at-spi-bus-launcher", "--launch-immediately")
        self.start("openbox")
        time.sleep(1)

    def start(self, *words: str, reads: bool = False) -> "subprocess.Popen[Any]":
        """Start a program that ends with the desktop."""
        process = subprocess.Popen(
            words,
            stdout=subprocess.PIPE if reads else subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        self._started.append(process)
        return process

    def close(self) -> None:
        """End everything, the last first."""
        for process in reversed(self._started):
            end(process)


def _line(process: "subprocess.Popen[Any]") -> str:
    assert process.stdout is not None
    return str(process.stdout.readline()).strip()


def end(process: "subprocess.Popen[Any]") -> None:
    """End a program as a desktop does."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)


# ---- what a screen reader is told


def controls(text: str, role: str = "") -> Iterator[tuple[str, Box]]:
    """Yield the names and places of visible controls whose name contains a text."""
    import gi  # type: ignore[import-not-found]  # a package of the system

    gi.require_version("Atspi", "2.0")
    from gi.repository import Atspi, GLib  # type: ignore[import-not-found]

    waiting = _below(Atspi.get_desktop(0))
    while waiting:
        node = waiting.pop(0)
        try:
            if not _shows(Atspi, node):
                continue
            name, kind, box = node.get_name() or "", node.get_role_name(), _box(Atspi, node)
            waiting[:0] = _below(node)
        except GLib.Error:
            continue  # it is gone meanwhile
        if text.lower() in name.lower() and role in kind and box is not None:
            yield name, box


def _below(node: Any) -> list[Any]:
    children = [node.get_child_at_index(number) for number in range(node.get_child_count())]
    return [child for child in children if child is not None]


def _shows(atspi: Any, node: Any) -> bool:
    states = node.get_state_set()
    return bool(states.contains(atspi.StateType.SHOWING) and states.contains(atspi.StateType.VISIBLE))


def _box(atspi: Any, node: Any) -> Box | None:
    if "Component" not in node.get_interfaces():
        return None
    area = atspi.Component.get_extents(node, atspi.CoordType.SCREEN)
    return Box(area.x, area.y, area.width, area.height) if area.width > 0 and area.x >= 0 else None


def place(text: str, role: str = "") -> Box:
    """Return where a control is; "NAME#1" is the second one. A whole name comes before a part of one."""
    name, _, number = text.rpartition("#") if text.rpartition("#")[2].isdigit() else (text, "", "0")
    found = list(controls(name, role))
    exact = [one for one in found if one[0].replace("&", "") == name] or found
    if len(exact) <= int(number):
        raise Missing(f"no control is called {text!r}")
    return exact[int(number)][1]


# ---- pointer and keyboard


def xdo(*words: object) -> None:
    """Move, press and type."""
    subprocess.run(["xdotool", *map(str, words)], check=False, stderr=subprocess.DEVNULL)


class Walk:
    """A flow's commands."""

    def __init__(self, desktop: Desktop, output: Path, size: str) -> None:
        self._desktop, self._output = desktop, output
        self._width, self._height = map(int, size.split("x"))
        self._program = desktop.start(*PROGRAM)

    def run(self, flow: Path) -> None:
        """Do what a file says. Raises Missing."""
        for number, line in enumerate(flow.read_text("utf-8").splitlines(), 1):
            line = line.replace("{home}", os.environ["HOME"]).replace("{root}", str(ROOT))
            for name, *words in filter(None, [shlex.split(line, comments=True)]):
                try:
                    self.do(name, words)
                except Missing as missing:
                    self.shot("missing")
                    raise Missing(f"{flow.name}, line {number}: {missing}") from None

    def do(self, name: str, words: list[str]) -> None:
        """Do one command."""
        if name in CLICKS:
            button, times = CLICKS[name]
            self._click(place(*words).at(), button, times)
        else:
            COMMANDS[name](self, *words)

    def _click(self, at: tuple[int, int], button: int = 1, times: int = 1) -> None:
        xdo("mousemove", *at)
        time.sleep(0.1)
        xdo("click", "--repeat", times, "--delay", 80, button) if times else None
        time.sleep(0.6)

    def tap(self, name: str, across: str, down: str) -> None:
        """Click at fractions of a control's width and height."""
        self._click(place(name, "filler").at(float(across), float(down)))

    def draw(self, name: str, *fractions: str) -> None:
        """Drag through points in a control."""
        box, numbers = place(name, "filler"), list(map(float, fractions))
        self._drag([box.at(*point) for point in zip(numbers[::2], numbers[1::2], strict=True)])

    def _drag(self, points: list[tuple[int, int]]) -> None:
        xdo("mousemove", *points[0], "mousedown", 1)
        for (x1, y1), (x2, y2) in itertools.pairwise(points):
            for part in range(1, 13):
                xdo("mousemove", x1 + (x2 - x1) * part // 12, y1 + (y2 - y1) * part // 12)
                time.sleep(0.02)
        xdo("mouseup", 1)
        time.sleep(0.4)

    def wheel(self, name: str, turns: str, key: str) -> None:
        """Turn the wheel over a control, upwards if positive, while a key is held."""
        xdo("mousemove", *place(name).at(), "keydown", key)
        self._turn(int(turns))
        xdo("keyup", key)

    def _turn(self, turns: int) -> None:
        for _ in range(abs(turns)):
            xdo("click", 4 if turns > 0 else 5)
            time.sleep(0.1)

    def reach(self, name: str, side: str = "left") -> None:
        """Turn the wheel over the form, or over the panel on the right, until a control is in sight."""
        frame, right = place("Mezzotint", "frame"), side == "right"
        high, low = frame.y + (120 if right else 8), frame.y + frame.height - (72 if right else 165)
        xdo("mousemove", frame.x + (frame.width - 180 if right else 95), frame.y + 270)
        for _ in range(60):
            box = place(name)
            if high <= box.y and box.y + box.height <= low:
                return
            self._turn(1 if box.y < high else -1)

    def type(self, text: str) -> None:
        """Type a text."""
        xdo("type", "--delay", 15, text)
        time.sleep(0.3)

    def key(self, *names: str) -> None:
        """Press keys, as xdotool names them."""
        for name in names:
            xdo("key", name)
            time.sleep(0.25)

    def keydown(self, name: str) -> None:
        """Hold a key."""
        xdo("keydown", name)

    def keyup(self, name: str) -> None:
        """Release a key."""
        xdo("keyup", name)

    def menu(self, entry: str, inner: str = "") -> None:
        """Choose an entry of the open menu by its number from 1, or one of its submenu; a screen reader is not told."""
        for _ in range(int(entry)):
            xdo("key", "Down")
        for name in ["Right", *["Down"] * (int(inner) - 1)] if inner else []:
            self.key(name)
        self.key("Return")
        time.sleep(0.4)

    def choose(self, box: str, item: str) -> None:
        """Choose an item of a combo box by its first letters."""
        self._click(place(box, "combo box").at())
        self.type(item)
        self.key("Return")
        time.sleep(0.4)

    def wait(self, text: str, seconds: str = "60") -> None:
        """Wait until a control is there, or for "!NAME" no longer there."""
        end_of_it = time.monotonic() + float(seconds)
        while (next(controls(text.lstrip("!")), None) is None) != text.startswith("!"):
            if time.monotonic() > end_of_it:
                raise Missing(f"waited {seconds} s for {text!r}")
            time.sleep(0.5)

    def sleep(self, seconds: str) -> None:
        """Wait."""
        time.sleep(float(seconds))

    def max(self) -> None:
        """Let the window fill the screen."""
        xdo("getactivewindow", "windowmove", 0, 0, "windowsize", self._width, self._height - _BAR)
        time.sleep(0.8)

    def shot(self, name: str) -> None:
        """Take a screenshot."""
        path = self._output / f"{Path(name).stem}.png"
        subprocess.run(["import", "-window", "root", str(path)], check=False)
        print(path, flush=True)

    def sh(self, command: str) -> None:
        """Run a command of the shell, in the home folder."""
        subprocess.run(["bash", "-c", command], check=False, cwd=os.environ["HOME"])

    def restart(self) -> None:
        """End the program and start it again."""
        end(self._program)
        self._program = self._desktop.start(*PROGRAM)


COMMANDS: dict[str, Callable[..., None]] = {
    "tap": Walk.tap,
    "draw": Walk.draw,
    "wheel": Walk.wheel,
    "reach": Walk.reach,
    "type": Walk.type,
    "key": Walk.key,
    "keydown": Walk.keydown,
    "keyup": Walk.keyup,
    "menu": Walk.menu,
    "choose": Walk.choose,
    "wait": Walk.wait,
    "sleep": Walk.sleep,
    "max": Walk.max,
    "shot": Walk.shot,
    "sh": Walk.sh,
    "restart": Walk.restart,
}


def walk(flow: str, size: str, theme: str, output: Path) -> str:
    """Walk a flow; return what was missing, or ""."""
    folder = output / f"{flow}-{size}-{theme}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory(prefix="mezzotint-walk-", ignore_cleanup_errors=True) as home:
        settings = Path(home) / ".config/mezzotint/window.json"
        settings.parent.mkdir(parents=True)
        settings.write_text(json.dumps({"theme": theme}), "utf-8")
        desktop = Desktop(Path(home), size)
        try:
            Walk(desktop, folder, size).run(FLOWS / f"{flow}.txt")
        except Missing as missing:
            return str(missing)
        finally:
            desktop.close()
    return ""


def main() -> int:
    """Walk each flow in a process of its own, since a process has one screen; return 1 if something was missing."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    flows = sorted(path.stem for path in FLOWS.glob("*.txt"))
    parser.add_argument("flow", nargs="*", choices=[[], *flows], help="all of them without one", metavar="FLOW")
    parser.add_argument("--size", default="1280x720", help="of the screen")
    parser.add_argument("--theme", default="dark", choices=("dark", "light"))
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "walk", help="where the screenshots go")
    options = parser.parse_args()
    if len(options.flow) == 1:
        missing = walk(options.flow[0], options.size, options.theme, options.output.resolve())
        print(missing or f"{options.flow[0]}: done")
        return 1 if missing else 0
    others = ("--size", options.size, "--theme", options.theme, "--output", str(options.output))
    ended = [subprocess.run([sys.executable, __file__, flow, *others], check=False) for flow in options.flow or flows]
    return max(one.returncode for one in ended)


if __name__ == "__main__":
    sys.exit(main())
