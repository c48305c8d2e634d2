"""How the libraries below are imported: off the network, and parts that no image needs at their first use only.

Those parts are known to Python at once. Diffusers and transformers import torch's compiler only to mark functions for
it, and bitsandbytes wherever it is installed; each takes longer than a small image. A module that waits is the module
itself, empty: it takes the marks, runs in place when it is asked for anything else, and is then given them.
"""

import logging
import os
import sys
from collections.abc import Callable, MutableMapping, Sequence
from functools import partial
from importlib.machinery import ModuleSpec, PathFinder
from threading import RLock
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.abc import Loader

_OFFLINE = {
    "DIFFUSERS_DISABLE_REMOTE_CODE": "true",
    "DO_NOT_TRACK": "1",
    "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",  # its threads would warn and stall after a fork
}
COMPILER = "torch._dynamo"
_MARKS = {COMPILER: ("allow_in_graph", "assume_constant_result"), "bitsandbytes": ()}
_ALONE = {f"{COMPILER}._trace_wrapped_higher_order_op"}  # transformers' masks import it; it needs nothing of the rest
_ASKED_WHEN_MADE = {"__path__", "__file__", "__cached__"}  # by Python, which then sets them


def offline_environment(environ: MutableMapping[str, str] = os.environ) -> None:
    """Switch off network, telemetry, tokens and remote code; call before any of the libraries is imported."""
    environ.update(_OFFLINE)
    logging.getLogger("bitsandbytes").setLevel(logging.ERROR)  # it warns of kernels that it would have downloaded
    environ.pop("DIFFUSERS_ATTN_BACKEND", None)  # what runs is chosen here, and told in the result


def import_later() -> None:
    """Have those of the modules wait that are not imported yet."""
    if not any(isinstance(finder, LaterFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, LaterFinder(_MARKS))


class LaterFinder:
    """Finds modules that are to wait, and has them run before any part of them is imported."""

    def __init__(self, marks: dict[str, tuple[str, ...]]) -> None:
        self._marks = marks

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """What Python finds, with a loader that waits; or a part that is there, once the module has run."""
        if fullname in self._marks:
            spec = PathFinder.find_spec(fullname, path, target)
            if spec is not None and spec.loader is not None:
                spec.loader = _Later(spec.loader, self._marks[fullname])  # type: ignore[assignment]
            return spec
        whole = next((sys.modules.get(name) for name in self._marks if fullname.startswith(f"{name}.")), None)
        if isinstance(whole, _Waiting) and fullname not in _ALONE:
            whole.run()
            if fullname in sys.modules:
                return ModuleSpec(fullname, _There(sys.modules[fullname]))  # type: ignore[arg-type]
        return None


class _Later:
    """Makes a module, and leaves it at that."""

    def __init__(self, loader: "Loader", marks: tuple[str, ...]) -> None:
        self._loader, self._marks = loader, marks

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """An empty module."""
        return _Waiting(spec.name, self._loader, self._marks)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing: the module is executed when it is first used."""


class _There:
    """Gives a module that another one has imported in the meantime."""

    def __init__(self, module: ModuleType) -> None:
        self._module, self._spec = module, module.__spec__

    def create_module(self, _: ModuleSpec) -> ModuleType:
        """The module that was imported."""
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        """It has run, and gets its own description back."""
        module.__spec__ = self._spec


class _Waiting(ModuleType):
    """A module until it runs; after that it is an ordinary one."""

    def __init__(self, name: str, loader: "Loader", marks: tuple[str, ...]) -> None:
        super().__init__(name)
        self._first_use = _FirstUse(self, loader)
        for mark in marks:
            setattr(self, mark, partial(self._first_use.mark, mark))
        if name == COMPILER:
            self.disable = self._first_use.disable

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  whatever the module has
        if name not in _ASKED_WHEN_MADE:
            self.run()
        return ModuleType.__getattribute__(self, name)

    def run(self) -> None:
        """Run it, unless it does so already."""
        self._first_use.run()


class _FirstUse:
    """What happens to a module that waits."""

    def __init__(self, module: ModuleType, loader: "Loader") -> None:
        self._module, self._loader, self._lock = module, loader, RLock()
        self._begun = self._has_run = False
        self._left: list[tuple[str, Callable[..., Any]]] = []

    def run(self) -> None:
        """In place: whoever has the module has what it becomes. Other threads wait; what it imports sees it begun."""
        with self._lock:
            if self._begun:
                return
            self._begun, module = True, self._module
            try:
                self._loader.exec_module(module)
            except BaseException:
                self._begun = False
                sys.modules.pop(module.__name__, None)
                raise
            module.__class__, module.__loader__ = ModuleType, self._loader
            if module.__spec__ is not None:
                module.__spec__.loader = self._loader
            vars(module).pop("_first_use", None)
            self._has_run = True
            for mark, function in self._left:
                getattr(module, mark)(function)

    def mark(self, mark: str, function: Callable[..., Any]) -> Any:  # noqa: ANN401  the function itself
        """Mark a function, now or when the module has run."""
        if self._has_run:
            return getattr(self._module, mark)(function)
        self._left.append((mark, function))
        return function

    def disable(self, function: Callable[..., Any] | None = None, recursive: bool = True, **how: object) -> Any:  # noqa: ANN401
        """Keep the compiler out of a function: in the way torch has for this, which imports it at the first call."""
        import torch._compile

        if self._begun or not how.keys() <= {"reason"}:  # torch itself asks otherwise, at that first call
            self.run()
            return self._module.disable(function, recursive, **how)
        return torch._compile._disable_dynamo(function, recursive)
