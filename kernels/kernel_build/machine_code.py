"""Compile each source for each architecture and parse the resulting kernels; cached by a hash of the contents."""

import contextlib
import json
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kernel_build.errors import BuildError
from kernel_build.mangled import readable
from kernel_build.ptxas import Resources, parse_ptxas
from kernel_build.sass import Instructions, parse_sass
from kernel_build.sources import OUTPUT, digest
from kernel_build.toolchain import INSTALL, Toolchain, run

CACHE = OUTPUT / "kernel-gates"
# The flags of CMake's release build; a cubin needs neither host optimization nor linking.
FLAGS = ("-std=c++17", "-O3", "-DNDEBUG", "-cubin", "-Xptxas=-v")
_FORMAT = "3"  # of the cache entries; bump it when the parsers change


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One compiler run: a source for an architecture."""

    source: Path
    architecture: str

    def __str__(self) -> str:
        return f"{self.source.name} for {self.architecture}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """A compiled kernel on one architecture."""

    name: str  # mangled
    architecture: str
    source: Path
    resources: Resources
    instructions: Instructions

    @property
    def label(self) -> str:
        """Readable name, as in the register table; the same on every architecture."""
        return f"{self.source.stem}:{readable(self.name)}"


def read_machine_code(
    units: Iterable[Unit],
    toolchain: Toolchain,
    *,
    cache: Path | None = None,
    jobs: int | None = None,
    on_compile: Callable[[Unit], None] = lambda _unit: None,
) -> list[Kernel]:
    """Return the kernels of all units; units that are not cached are compiled in parallel."""
    if toolchain.nvdisasm is None:
        raise BuildError(f"there is no nvdisasm here, which shows the machine code: {INSTALL}")
    folder = cache or CACHE
    folder.mkdir(parents=True, exist_ok=True)

    def read(unit: Unit) -> list[Kernel]:
        kept = folder / f"{digest(unit.source, [*_words(toolchain), unit.architecture])}.json"
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            return list(_restored(unit, json.loads(kept.read_text("utf-8"))))
        on_compile(unit)
        kernels = _compiled(unit, toolchain)
        _keep(kept, kernels)
        return kernels

    with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        return [kernel for kernels in pool.map(read, units) for kernel in kernels]


def source_digest(source: Path, toolchain: Toolchain) -> str:
    """Return a digest of everything that a source's machine code, and the rules it is judged by, depend on."""
    rules = Path(__file__).with_name("gates.py").read_text("utf-8")
    return digest(source, [*_words(toolchain), rules])[:24]


def _words(toolchain: Toolchain) -> list[str]:
    return [_FORMAT, toolchain.version, *FLAGS]


def _compiled(unit: Unit, toolchain: Toolchain) -> list[Kernel]:
    with tempfile.TemporaryDirectory() as folder:
        cubin = Path(folder, "kernel.cubin")
        options = [*FLAGS, f"-arch={unit.architecture}", "-o"]
        said = run([toolchain.nvcc, *options, cubin, unit.source], f"nvcc, on {unit},")
        resources = parse_ptxas(said)
        if not resources:  # a source with host code only
            return []
        shown = run([toolchain.nvdisasm or "nvdisasm", cubin], f"nvdisasm, on {unit},")
    instructions = parse_sass(shown)
    if missing := resources.keys() - instructions.keys():
        raise BuildError(f"nvdisasm shows no machine code of {', '.join(sorted(missing))} in {unit}")
    return [_kernel(unit, name, resources[name], instructions[name]) for name in resources]


def _kernel(unit: Unit, name: str, resources: Resources, instructions: Instructions) -> Kernel:
    return Kernel(
        name=name,
        architecture=unit.architecture,
        source=unit.source,
        resources=resources,
        instructions=instructions,
    )


def _keep(path: Path, kernels: Iterable[Kernel]) -> None:
    values = {kernel.name: _as_json(kernel) for kernel in kernels}
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, suffix=".part", delete=False) as file:
        json.dump(values, file)
    Path(file.name).replace(path)


def _as_json(kernel: Kernel) -> dict[str, object]:
    counts = kernel.instructions
    return {
        "resources": asdict(kernel.resources),
        "instructions": {name: dict(getattr(counts, name)) for name in ("everywhere", "in_loops", "usual")},
    }


def _restored(unit: Unit, values: Mapping[str, Any]) -> Iterator[Kernel]:
    for name, kernel in values.items():
        counts = {where: Counter(numbers) for where, numbers in kernel["instructions"].items()}
        yield _kernel(unit, name, Resources(**kernel["resources"]), Instructions(**counts))
