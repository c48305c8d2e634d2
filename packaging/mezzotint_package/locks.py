"""Locks: for a system and a backend every wheel, with its URL, size and hash, in the form of PEP 751."""

import configparser
import io
import json
import os
import subprocess
import sys
import tempfile
import tomllib
import urllib.request
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename

from mezzotint_package.errors import PackagingError
from mezzotint_package.targets import PYTORCH, Target
from mezzotint_setup.addresses import is_loopback, is_safe

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
_PREFERRED = ("3.12", "3.13", "3.11", "3.14")
WITHOUT_ENGINE = {"accelerate", "bitsandbytes", "diffusers", "torch", "transformers"}  # the window alone needs none


@dataclass(frozen=True, kw_only=True)
class Wheel:
    """A file that a lock names."""

    url: str
    sha256: str
    size: int

    @property
    def name(self) -> str:
        """The file's name."""
        return unquote(urlsplit(self.url).path.rpartition("/")[2])


@dataclass(frozen=True, kw_only=True)
class Locked:
    """A package with its wheels, one for each Python that needs another."""

    name: str
    version: str
    wheels: tuple[Wheel, ...]


@dataclass(frozen=True, kw_only=True)
class Index:
    """Where packages are found: arguments for uv, and Python versions that there are packages for."""

    arguments: tuple[str, ...] = ()
    pythons: tuple[str, ...] = PYTHONS


@dataclass(frozen=True, kw_only=True)
class Resolver:
    """uv, which chooses the packages of `project` in the versions of its constraints."""

    uv: Path
    project: Path
    index: Index = field(default_factory=Index)

    def lock(self, target: Target, backend: str) -> list[Locked]:
        """Return what a backend needs on a system, for every Python of the index."""
        wanted = requirements(self.project, backend)
        found = [self._for_python(target, python, wanted) for python in self.index.pythons]
        locked = merged(found)
        cuda = [one.name for one in locked if one.name.startswith("nvidia-")]
        if cuda and not backend.startswith("cu"):
            raise PackagingError(
                f"the index has no torch for {backend} on {target.system}: what it has needs {cuda[0]}. "
                f"Where {PYTORCH} can be reached, its builds are taken; or name an index by TORCH_INDEX=URL."
            )
        return locked

    def _for_python(self, target: Target, python: str, wanted: Sequence[str]) -> list[Locked]:
        with tempfile.TemporaryDirectory() as folder:
            asked, answer = Path(folder) / "wanted.txt", Path(folder) / "pylock.toml"
            asked.write_text("\n".join(wanted), "utf-8")
            command = [str(self.uv), "pip", "compile", "-q", "--no-config", "--no-header", "--generate-hashes"]
            command += ["--format", "pylock.toml", "--python-platform", target.uv_platform, "--python-version", python]
            command += ["--python", sys.executable]  # else it downloads a Python of that version
            command += ["--only-binary", ":all:", "-c", str(self.project / "constraints.txt"), "-o", str(answer)]
            floor = dict(os.environ, MACOSX_DEPLOYMENT_TARGET="14.0")
            done = subprocess.run([*command, *self.index.arguments, str(asked)], env=floor, check=False)
            if done.returncode:
                raise PackagingError(f"uv could not resolve the packages for {target.system}; its reason is above")
            packages = tomllib.loads(answer.read_text("utf-8"))["packages"]
        tags = {tag: rank for rank, tag in enumerate(target.tags(python))}
        chosen = [(package, _best(package, tags)) for package in packages]
        with ThreadPoolExecutor(8) as pool:
            wheels = list(pool.map(lambda pair: _wheel(pair[1]), chosen))
        return [
            Locked(name=canonicalize_name(package["name"]), version=package["version"], wheels=(wheel,))
            for (package, _), wheel in zip(chosen, wheels, strict=True)
        ]


def requirements(project: Path, backend: str) -> list[str]:
    """Return what the program needs, or for the backend `window` what it needs without the engine."""
    table = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = [*table["dependencies"], *table["optional-dependencies"]["app"]]
    if backend == "window":
        wanted = [one for one in wanted if canonicalize_name(Requirement(one).name) not in WITHOUT_ENGINE]
    return wanted


def index_of(target: Target, backend: str, base: str | None) -> Index:
    """Return where a backend's packages are found; `base` is PyTorch's index, or none for what pip is set up with."""
    folder = target.backends[backend]
    if folder is None:
        return Index()
    if base is not None:  # versions come from the constraints, so the order of the indexes hardly matters
        return Index(arguments=("--index", base.rstrip("/") + "/" + folder, "--index-strategy", "unsafe-best-match"))
    return Index(arguments=configured_index(), pythons=(".".join(map(str, sys.version_info[:2])),))


def configured_index() -> tuple[str, ...]:
    """Return uv's arguments for the places where this machine's pip looks for packages."""
    done = subprocess.run([sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True)
    options = configparser.ConfigParser(interpolation=None, delimiters=("=",), strict=False)
    options.read_string("[pip]\n" + done.stdout)
    found: list[str] = []
    for key, value in options["pip"].items():
        name = {"index-url": "--default-index", "extra-index-url": "--index", "find-links": "--find-links"}.get(
            key.rpartition(".")[2]
        )
        places = value.strip("'\"").split() if name else ()
        for place in places:
            if name == "--find-links" or not place.startswith("file:"):  # folders of this machine stand in for others
                found += [str(name), place]
    return (*found, "--index-strategy", "unsafe-best-match")


def merged(resolutions: Iterable[list[Locked]]) -> list[Locked]:
    """Return the packages of all Pythons; a package must have the same version for all of them."""
    packages: dict[str, Locked] = {}
    for one in (one for resolution in resolutions for one in resolution):
        known = packages.setdefault(one.name, one)
        if known.version != one.version:
            raise PackagingError(
                f"{one.name} is {known.version} for one Python and {one.version} for another; pin it in constraints.txt"
            )
        new = tuple(wheel for wheel in one.wheels if wheel not in known.wheels)
        packages[one.name] = replace(known, wheels=known.wheels + new)
    return sorted(packages.values(), key=lambda one: one.name)


def written(packages: Sequence[Locked], pythons: Sequence[str]) -> str:
    """Return the lock file."""
    lines = ['lock-version = "1.0"', 'created-by = "mezzotint"', f'requires-python = ">={pythons[0]}"']
    for one in packages:
        lines += ["", "[[packages]]", f"name = {_text(one.name)}", f"version = {_text(one.version)}", "wheels = ["]
        lines += [
            f"    {{ name = {_text(wheel.name)}, url = {_text(wheel.url)}, size = {wheel.size}, "
            f"hashes = {{ sha256 = {_text(wheel.sha256)} }} }},"
            for wheel in one.wheels
        ]
        lines.append("]")
    return "\n".join([*lines, ""])


def read(lock: str) -> list[Locked]:
    """Return the packages of a written lock."""
    return [
        Locked(
            name=one["name"],
            version=one["version"],
            wheels=tuple(
                Wheel(url=wheel["url"], sha256=wheel["hashes"]["sha256"], size=wheel["size"]) for wheel in one["wheels"]
            ),
        )
        for one in tomllib.load(io.BytesIO(lock.encode()))["packages"]
    ]


def python_for(target: Target, locked: Iterable[Sequence[Locked]]) -> str:
    """Return the Python that every package of these locks has a wheel for."""
    packages = [one for packages in locked for one in packages]
    for python in _PREFERRED:
        tags = set(target.tags(python))
        if all(any(parse_wheel_filename(each.name)[3] & tags for each in one.wheels) for one in packages):
            return python
    raise PackagingError(f"no Python from {PYTHONS[0]} to {PYTHONS[-1]} has every package of the locks")


def local(packages: Sequence[Locked]) -> list[str]:
    """Return the URLs that work on this machine alone, or that are not encrypted."""
    return [wheel.url for one in packages for wheel in one.wheels if not _is_public(wheel.url)]


def _is_public(url: str) -> bool:
    return is_safe(url) and not is_loopback(str(urlsplit(url).hostname))


def size_of(url: str) -> int:
    """Return the bytes of a file on an index that does not list them."""
    if url.startswith("file:"):
        return Path(url2pathname(urlsplit(url).path)).stat().st_size
    try:
        with urllib.request.urlopen(urllib.request.Request(url, method="HEAD"), timeout=60) as answer:
            return int(answer.headers["Content-Length"])
    except (OSError, TypeError, ValueError) as error:
        raise PackagingError(f"{url}: the index does not say how large the file is ({error})") from error


def _wheel(wheel: dict[str, Any]) -> Wheel:
    url = str(wheel["url"])
    size = int(wheel["size"]) if "size" in wheel else size_of(url)
    return Wheel(url=url, sha256=str(wheel["hashes"]["sha256"]), size=size)


def _best(package: dict[str, Any], tags: dict[Any, int]) -> dict[str, Any]:
    """Return the wheel that pip would take."""
    ranked = []
    for number, wheel in enumerate(package.get("wheels", ())):
        if "url" not in wheel:
            continue
        name = unquote(urlsplit(str(wheel["url"])).path.rpartition("/")[2])
        ranks = [tags[tag] for tag in parse_wheel_filename(name)[3] if tag in tags]
        if ranks:
            ranked.append((min(ranks), number))
    if not ranked:
        raise PackagingError(f"{package['name']} {package['version']} has no wheel that fits")
    best: dict[str, Any] = package["wheels"][min(ranked)[1]]
    return best


def _text(value: str) -> str:
    return json.dumps(value)  # a basic string of TOML, too
