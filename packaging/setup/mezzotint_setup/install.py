"""Installs a version: download, build beside, prove, switch."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mezzotint_setup.building import Build
from mezzotint_setup.cache import drop_unused
from mezzotint_setup.download import Downloads, found_in
from mezzotint_setup.errors import SetupFailed, disk_trouble
from mezzotint_setup.events import Reporter, Stop
from mezzotint_setup.network import Network
from mezzotint_setup.payload import Lock, Payload, Wheel
from mezzotint_setup.root import Pointer, Root, moved, remove
from mezzotint_setup.update import drop_payloads

_SPARE = 64 << 20  # bytes beyond what the packages need


@dataclass(kw_only=True)
class Installer:
    """Changes what is in a root."""

    root: Root
    payload: Payload
    reporter: Reporter
    stop: Stop
    mirrors: Sequence[str] = ()
    network: Network = field(default_factory=Network)

    def install(self, backend: str, wheels_folder: Path | None = None, *, broken: str | None = None) -> str:
        """Get, build, prove and switch to a build of this payload's version; the one in use stays until then."""
        self.root.create()
        with self.root.owned():
            try:
                return self._install(backend, wheels_folder, broken)
            except OSError as error:
                raise disk_trouble(error, self.root.path) from error
            finally:
                self.root.drop_parts()
                drop_unused(self.root.cache)

    def repair(self, wheels_folder: Path | None = None) -> str:
        """Build the version in use again from files that are compared with their hashes."""
        name = _in_use(self.root)
        remove(self.root.cache)
        with contextlib.suppress(SetupFailed, KeyError):  # else from the payload at hand
            self.payload = Payload.read(Path(self.root.facts(name)["payload"]))
        return self.install(backend_of(self.root, name), wheels_folder, broken=name)

    def version_in_use(self) -> str:
        """The number of the version in use, or of the payload where nothing is installed."""
        return self.root.facts(self.root.usable() or "").get("version", self.payload.version)

    def back(self) -> str:
        """Switch to the version before."""
        pointer = self.root.pointer()
        if pointer is None or not self.root.works(pointer.before) or pointer.before is None:
            raise SetupFailed("no_before", "there is no earlier version to go back to", "go on with this one")
        with self.root.owned():
            self.root.switch(pointer.before, pointer.version)
        return pointer.before

    def _install(self, backend: str, wheels_folder: Path | None, broken: str | None) -> str:
        self.root.drop_parts()
        self.payload.verify()
        lock = self.payload.lock(backend)
        wheels_at = self._get(lock, wheels_folder)
        wheels = (*lock.wheels, *self.payload.own_wheels(backend))
        build = Build(
            root=self.root, payload=self.payload, backend=backend, wheels=wheels, folder=wheels_at, stop=self.stop
        )
        name = self.root.new_name(f"{self.payload.version}-{backend}")
        part = self.root.new_part(name)
        try:
            self.reporter.phase("build")
            build.make(part)
            self.reporter.phase("prove")
            notes = build.prove(part)
            self.reporter.phase("switch")
            build.finish(part, name)
            moved(part, self.root.folder(name))
        finally:
            remove(part)
        self.root.switch(name, self._before(broken))
        with contextlib.suppress(OSError):  # the new version is in use: what is left is removed next time
            self._tidy(lock.wheels, wheels_folder)
        self.reporter.done(name, notes)
        return name

    def _get(self, lock: Lock, wheels_folder: Path | None) -> Path:
        self.reporter.phase("download")
        downloads = Downloads(
            self.root.downloads,
            network=self.network,
            mirrors=(*self.mirrors, *self.payload.mirrors),
            stop=self.stop,
        )
        missing = 0 if wheels_folder else downloads.missing(lock.wheels)
        need, free = missing + lock.installed + _SPARE, self.root.free()
        if free < need:
            raise SetupFailed(
                "no_room",
                f"{need / 1e9:.1f} GB are needed in {self.root.path}, and {free / 1e9:.1f} GB are free",
                f"free {(need - free) / 1e9:.1f} GB, or choose a folder on another disk",
            )
        if wheels_folder is not None:
            found_in(wheels_folder, lock.wheels, self.reporter.progress)
            return wheels_folder
        downloads.fetch(lock.wheels, self.reporter.progress)
        return self.root.downloads

    def _before(self, broken: str | None) -> str | None:
        """The version to go back to: the one in use if it works, else the one before it."""
        pointer = self.root.pointer() or Pointer(version="")
        wanted = (pointer.version, pointer.before)
        return next((one for one in wanted if one != broken and self.root.works(one)), None)

    def _tidy(self, wheels: Sequence[Wheel], wheels_folder: Path | None) -> None:
        self.root.drop_old()
        if wheels_folder is None:
            Downloads(self.root.downloads, network=self.network, mirrors=(), stop=self.stop).keep(wheels)
        kept = [self.root.facts(one.name).get("payload", "") for one in self.root.versions.iterdir()]
        drop_payloads(self.root, {*kept, str(self.payload.folder.absolute())})


def backend_of(root: Root, name: str) -> str:
    """Which build a version is."""
    return root.facts(name).get("backend") or name.split("-")[-1].split(".")[0]


def _in_use(root: Root) -> str:
    pointer = root.pointer()
    name = root.usable() if pointer is None else pointer.version
    if name is None:
        raise SetupFailed("nothing_installed", f"nothing is installed in {root.path}", "start Mezzotint, or install it")
    return name
