"""The engine's installation: which build, where to, and what to do with the versions that are installed."""

from collections.abc import Sequence
from pathlib import Path, PurePath

from PySide6.QtCore import QObject, Signal

from mezzotint_app.processes.setup_process import Bootstrap
from mezzotint_app.settings import Settings
from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.engine_setup.command import SetupCommand, Start
from mezzotint_app.viewmodel.engine_setup.facts import Facts, Needs, Trouble
from mezzotint_app.viewmodel.engine_setup.machine_look import MachineLook
from mezzotint_app.viewmodel.engine_setup.troubles import trouble_text
from mezzotint_app.window_state import WindowState

_OWN_NAMES = ("mezzotint", "engine")  # folders that are taken as they are; in others, one is made
_WINDOW = "window"  # the build without an engine


class EngineSetup(QObject):
    """Runs one command of the bootstrap at a time; looking at the machine goes on beside it."""

    changed = Signal()
    restart_wanted = Signal()

    def __init__(
        self,
        bootstrap: Bootstrap | None,
        start: Start,
        settings: Stored[Settings],
        kept: Stored[WindowState],
        parent: QObject | None = None,
    ) -> None:
        """`bootstrap` is None if the program was installed in another way; `kept` stores what was begun."""
        super().__init__(parent)
        self._bootstrap, self._settings, self._kept = bootstrap, settings, kept
        self._root = kept.value().engine_folder
        self._chosen = kept.value().engine_build
        self._ready = self._ready_root = ""
        self.command = SetupCommand(start, self)
        self.machine = MachineLook(start, lambda: self._line(("look",), self._root), self)
        self.command.done.connect(self._on_done)
        self.command.ended.connect(self._on_ended)
        self.command.changed.connect(self.changed)
        self.machine.changed.connect(self._on_look)

    def begin(self) -> None:
        """Look at the machine, and for a newer release if that is allowed; called once the window is visible."""
        if self._bootstrap is not None:
            self.machine.ask()
            if self._settings.value().update_check and not self.lacks_engine():
                self._begin(("check-update",), quiet=True)

    # ---- state

    def is_available(self) -> bool:
        """Whether a bootstrap installed this program."""
        return self._bootstrap is not None

    def lacks_engine(self) -> bool:
        """Whether this window has no engine."""
        return self._bootstrap is not None and self._bootstrap.first

    def facts(self) -> Facts | None:
        """The machine and the builds; None until they are known."""
        return self.machine.facts

    def builds(self) -> dict[str, Needs]:
        """The builds to choose from, the advised one first."""
        facts = self.facts()
        if facts is None:
            return {}
        names = [facts.backend, *(one for one in facts.backends if one not in (facts.backend, _WINDOW))]
        return {name: facts.backends[name] for name in names if name in facts.backends}

    def build(self) -> str:
        """The build that is chosen; the advised one until another was."""
        builds = self.builds()
        return self._chosen if self._chosen in builds else next(iter(builds), "")

    def needs(self) -> Needs | None:
        """The bytes that the chosen build needs."""
        return self.builds().get(self.build())

    def root(self) -> str:
        """The folder for the versions."""
        return self._root or (self._bootstrap.root if self._bootstrap else "")

    def has_room(self) -> bool:
        """Whether the chosen build fits on the disk."""
        needs, facts = self.needs(), self.facts()
        return needs is None or facts is None or needs.missing + needs.disk <= facts.free

    def version_in_use(self) -> str:
        """The version in use; empty without an engine."""
        facts = self.facts()
        return "" if facts is None or self.lacks_engine() else facts.installed or ""

    def version_before(self) -> str:
        """The version with an engine that can be gone back to; empty: none."""
        before = self.machine.facts.before if self.machine.facts is not None else None
        return before if before and _build_of(before) != _WINDOW else ""

    def can_install(self) -> bool:
        """Whether an installation can be begun, or go on."""
        return bool(self.build()) and not self.command.is_busy() and not self._ready

    def is_begun(self) -> bool:
        """Whether an installation was begun, in this session or an earlier one, and can go on."""
        return bool(self._kept.value().engine_build) and not self.command.is_busy() and not self._ready

    def trouble(self) -> Trouble | None:
        """Why the last command failed, or the machine could not be looked at."""
        return self.command.trouble or self.machine.trouble

    def trouble_text(self) -> str:
        """What happened and what to do; empty if nothing did."""
        trouble = self.trouble()
        return trouble_text(trouble) if trouble is not None else ""

    def ready_version(self) -> str:
        """The version that opens with the next window; empty if that is the one in use."""
        return self._ready

    def update_text(self) -> str:
        """A newer version that can be installed; empty if none is known."""
        facts, release = self.facts(), self.command.release
        if self._ready or self.lacks_engine():
            return ""
        if release is not None and release.newer:
            return self.tr("Version {version} has been released.").format(version=release.version)
        if facts is not None and facts.update:
            return self.tr("The installer brought version {version}.").format(version=facts.version)
        return ""

    def notice(self) -> str:
        """What to tell above every page; empty if there is nothing."""
        if self._ready:
            return self.tr("Version {version} is installed and works.").format(version=self._ready)
        if self.command.pauses():
            return self.tr("Engine: {work}").format(work=self.command.text())
        if self.command.trouble is not None:
            return self.trouble_text()
        if self.is_begun():
            return self.tr("The installation of the engine is paused.")
        if self.lacks_engine():
            return self.tr(
                "No engine is installed yet, so no images can be made. The gallery, the models and the settings work."
            )
        return self.update_text()

    def may_check(self) -> bool:
        """Whether looking for releases is allowed."""
        return self._settings.value().update_check

    # ---- choices

    def choose(self, build: str) -> None:
        """Choose a build."""
        if build and build != self.build() and not self.command.is_busy():
            self._chosen = build
            self.changed.emit()

    def set_root(self, folder: str) -> None:
        """Choose another folder; an empty text means the one that the program is in."""
        if self._bootstrap is None or self.command.is_busy():
            return
        path = Path(folder.strip()).expanduser() if folder.strip() else None
        if path is not None and path.name.lower() not in _OWN_NAMES:
            path = path / "Mezzotint"
        self._root = "" if path is None or path == PurePath(self._bootstrap.root) else str(path)
        self.command.trouble = None
        self.machine.ask()
        self.changed.emit()

    # ---- commands

    def install(self, wheels: str = "") -> None:
        """Install the chosen build, or go on with it; `wheels`: take the packages from this folder."""
        if self.can_install():
            self._install(self.build(), wheels)

    def install_or_resume(self) -> None:
        """Go on with what was paused, from where it came; otherwise install the chosen build."""
        if self.command.paused:
            self.retry()
        else:
            self.install()

    def retry(self) -> None:
        """Repeat or go on with the last command; if it was to install, with the present choices."""
        words = self.command.words
        if words and words[0] != "install":
            self._begin(words)
        elif (words or self.is_begun()) and self.can_install():
            self._install(self.build(), words[words.index("--wheels") + 1] if "--wheels" in words else "")
        else:
            self.machine.ask()

    def go_back(self) -> None:
        """Switch to the version before."""
        self._begin(("back",))

    def repair(self) -> None:
        """Build the version in use again."""
        self._begin(("repair",))

    def update(self) -> None:
        """Install the newer version, with the build in use."""
        release, facts = self.command.release, self.facts()
        if release is not None and release.newer:
            self._begin(("update",))
        elif facts is not None and facts.update and facts.installed:
            self._install(_build_of(facts.installed))

    def allow_check(self, allowed: bool) -> None:
        """Allow looking for releases, and do so at once; or no longer."""
        self._settings.change(update_check=allowed)
        if not allowed:
            self.command.release = None
        self._begin(("check-update", "--allow" if allowed else "--no-allow"))

    def check(self) -> None:
        """Look for a newer release."""
        self._begin(("check-update",))

    def restart(self) -> None:
        """Ask to close this window and open that of the version that is ready."""
        if self._ready:
            self.restart_wanted.emit()

    def restart_line(self) -> tuple[str, ...]:
        """The command line that opens it."""
        return self._line(("start",), self._ready_root)

    def finish(self, milliseconds: int) -> None:
        """Pause what is at work and wait for it; only for use after the last window has closed."""
        self.machine.finish(milliseconds)
        self.command.finish(milliseconds)

    def _install(self, build: str, wheels: str = "") -> None:
        words = ("install", "--backend", build, *(("--wheels", wheels) if wheels else ()))
        if self._root:
            words += ("--remember",)
        self._kept.change(engine_build=build, engine_folder=self._root)
        self._begin(words)

    def _begin(self, words: Sequence[str], *, quiet: bool = False) -> None:
        if self._bootstrap is not None:
            root = self._root if words[0] == "install" else ""
            self.command.begin(words, self._line(words, root), quiet=quiet)

    def _line(self, words: Sequence[str], root: str) -> tuple[str, ...]:
        return self._bootstrap.words(words, root) if self._bootstrap is not None else ()

    def _on_look(self) -> None:
        """Take over whether looking for releases is allowed, which the bootstrap's command line can change, too."""
        told = self.machine.facts.update_check if self.machine.facts is not None else None
        if told is not None and not (self._root or self.machine.is_asking() or self.command.is_busy()):
            self._settings.change(update_check=told)
        self.changed.emit()

    def _on_done(self, version: str) -> None:
        self._ready = version if version != self.version_in_use() else ""
        self._ready_root = self._root if self.command.words[0] == "install" else ""
        self._kept.change(engine_build="", engine_folder="")

    def _on_ended(self) -> None:
        trouble = self.command.trouble
        if trouble is not None and trouble.code == "not_allowed":
            self._settings.change(update_check=False)
        self.machine.ask()


def _build_of(name: str) -> str:
    """The build of a version: 0.1.0-cpu, or 0.1.0-cpu.2 where it was built again."""
    return name.rpartition("-")[2].partition(".")[0]
