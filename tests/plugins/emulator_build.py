"""Build the emulator's library from the kernel sources, or from a copy of some of them; needs only g++."""

import ctypes
import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import groupby
from pathlib import Path

from kept_files import kept
from pace import for_all

ROOT = Path(__file__).parents[2]
KERNELS = ROOT / "kernels"
CACHE = ROOT / "build" / "emulator"
FLAGS = ("-std=c++17", "-O1", "-fPIC", "-fvisibility=hidden", "-DMEZZOTINT_EMULATOR", "-Wall", "-Wextra", "-Werror")
QUIET = ("-Wno-unknown-pragmas",)  # unroll pragmas are for nvcc
LISTS_ONLY = ("-DMEZZOTINT_LISTS_ONLY",)
INCLUDE = re.compile(r'^#include "(.+)"', re.MULTILINE)
# Skipped by `make test`, since compiling is slow: the same templates are tested with other dtypes and sizes.
LEFT_OUT = frozenset(
    {f"attention/float16_{size}" for size in (32, 80, 88, 96, 112, 128, 160, 256, 384)}
    | {f"attention/bfloat16_{size}" for size in (32, 80, 88, 112, 160, 512)}
    | {f"attention/hopper_bfloat16_{size}" for size in (96, 128, 192, 256)}
    | {f"attention/hopper_float16_{size}" for size in (64, 128, 192, 256)}
    | {f"backward/backward_float16_{size}" for size in (32, 40, 80, 88, 96, 112, 128, 160, 256, 384)}
    | {f"backward/backward_bfloat16_{size}" for size in (32, 72, 80, 88, 96, 112, 160, 256, 384, 512)}
)


class Conditions(ctypes.Structure):
    """The emulator's behaviour in a run (run.h)."""

    _fields_ = (
        ("late_copies", ctypes.c_int32),
        ("seed", ctypes.c_uint32),
        ("turing", ctypes.c_int32),
        ("tiles_per_block", ctypes.c_int32),
        ("stubborn", ctypes.c_int32),
        ("hopper", ctypes.c_int32),
        ("late_reads", ctypes.c_int32),
    )


@for_all()
def build(folder: Path = KERNELS, left_out: Collection[str] = ()) -> Path:
    """Build the library from the kernel sources in `folder`; objects are cached by contents.

    Kernels of the instances in `left_out`, such as attention/float16_80, can be chosen but do nothing when they run.
    """

    sources = sorted([*(folder / "emulator").glob("*.cpp"), *_kernel_sources(folder / "csrc")])
    listed = [source for source in sources if _instance_name(source) in left_out]
    by_folder = [tuple(group) for _, group in groupby(listed, lambda source: source.parent)]
    units = [*((source,) for source in sources if source not in listed), *by_folder]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(lambda unit: _object(unit, folder, LISTS_ONLY if unit in by_folder else ()), units))
    state = hashlib.sha256(repr([path.name for path in objects]).encode())
    return kept(CACHE / f"{state.hexdigest()[:24]}.so", partial(_compile, ("-shared", *map(str, objects))))


def copy_sources(folder: Path, instances: Iterable[str] = (), keep: Callable[[str], bool] = lambda _: True) -> Path:
    """Copy the sources to `folder`, with only the named instance files, such as attention/bfloat16_64.

    Of these keep only the lines for which `keep` returns True, since compiling them is slow.
    """
    wanted = set(instances)
    for part in ("csrc", "emulator"):
        shutil.copytree(KERNELS / part, folder / part)
    for made in (folder / "csrc").glob("**/instances"):
        listing = (made / "all.cpp").read_text("utf-8")
        for path in made.glob("*.cu"):
            if _instance_name(path) in wanted:
                lines = path.read_text("utf-8").splitlines(keepends=True)
                path.write_text("".join(line for line in lines if "instance<" not in line or keep(line)), "utf-8")
            else:
                path.unlink()
                listing = listing.replace(f"InstanceList list_{path.stem}();\n", "")
                listing = listing.replace(f"return list_{path.stem}();", "return {nullptr, 0};")
        (made / "all.cpp").write_text(listing, "utf-8")
    return folder


def _kernel_sources(csrc: Path) -> list[Path]:
    """Return all sources except the C ABI and launches, which need CUDA."""
    own = [path for path in csrc.glob("*/**/*") if path.suffix in {".cpp", ".cu"}]
    return [path for path in own if path.parent.name != "api" and path.name != "launch.cu"]


def _instance_name(path: Path) -> str:
    """Return the name of an instance file: attention/bfloat16_64."""
    return f"{path.parents[1].name}/{path.stem}"


def _object(unit: tuple[Path, ...], folder: Path, flags: tuple[str, ...]) -> Path:
    """Compile sources as one."""
    state = hashlib.sha256(repr((FLAGS + flags, [source.name for source in unit])).encode())
    for path in sorted({each for source in unit for each in _closure(source.resolve())}):
        state.update(path.relative_to(folder.resolve()).as_posix().encode() + path.read_bytes())
    first = [word for source in unit[:-1] for word in ("-include", str(source))]
    words = (*FLAGS, *flags, *QUIET, *first, "-x", "c++", "-c", str(unit[-1]))
    return kept(CACHE / f"{unit[-1].name}.{state.hexdigest()[:24]}.o", partial(_compile, words))


def _closure(path: Path) -> Iterator[Path]:
    """Return a source and everything of ours that it includes."""
    found, left = {path}, [path]
    while left:
        each = left.pop()
        for name in INCLUDE.findall(each.read_text("utf-8")):
            included = (each.parent / name).resolve()
            if included not in found:
                found.add(included)
                left.append(included)
    return iter(found)


def _compile(words: tuple[str, ...], target: Path) -> None:
    done = subprocess.run(["g++", *words, "-o", str(target)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"g++ {' '.join(words)}\n{done.stderr}")
