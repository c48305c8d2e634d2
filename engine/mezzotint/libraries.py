"""Import the libraries offline, and modules that few images need only on first use.

Such modules are visible to Python at once. Diffusers and transformers import torch's compiler only to mark functions,
and bitsandbytes whenever it is installed; each takes longer than a small image. A deferred module is the module
itself, still empty: it records marks, executes in place on any other access, and then gets the marks.
"""

import logging
import os
import sys
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from functools import partial
from importlib.machinery import ModuleSpec, PathFinder
from threading import Lock, RLock
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
# Modules that have read these variables into their own by the end of their import.
_READ_AT_IMPORT = (
    "huggingface_hub.constants",
    "diffusers.utils.constants",
    "diffusers.utils.dynamic_modules_utils",
    "diffusers.utils.hub_utils",
)
COMPILER = "torch._dynamo"
_MARKS = {COMPILER: ("allow_in_graph", "assume_constant_result"), "bitsandbytes": ()}
_INDEPENDENT = {
    f"{COMPILER}._trace_wrapped_higher_order_op"
}  # imported by transformers' masks; needs nothing else of it
_importing = Lock()
_SET_BY_IMPORT = {"__path__", "__file__", "__cached__"}  # by Python during import, which then sets them


def offline_environment(
    environ: MutableMapping[str, str] = os.environ, modules: Mapping[str, ModuleType] = sys.modules
) -> None:
    """Disable network, telemetry, tokens and remote code, also in libraries that have been imported already."""
    environ.update(_OFFLINE)
    for module in (modules[name] for name in _READ_AT_IMPORT if name in modules):
        for name in _OFFLINE.keys() & vars(module).keys():
            setattr(module, name, True)
    logging.getLogger("bitsandbytes").setLevel(logging.ERROR)  # it warns about kernels that it would have downloaded
    environ.pop("DIFFUSERS_ATTN_BACKEND", None)  # the backend is chosen here and reported in the result


def defer_imports() -> None:
    """Defer the modules that are not imported yet."""
    if not any(isinstance(finder, DeferringFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, DeferringFinder(_MARKS))


def import_networks() -> None:
    """Import diffusers and transformers, in one thread at a time; call before anything that uses them.

    Both replace themselves in sys.modules while they are imported. A thread that imports them meanwhile waits for that,
    and then gets what was replaced, which has no classes.
    """
    with _importing:
        import diffusers  # noqa: F401
        import transformers  # noqa: F401


class DeferringFinder:
    """Finder for deferred modules; executes them before any of their submodules is imported."""

    def __init__(self, marks: dict[str, tuple[str, ...]]) -> None:
        self._marks = marks

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Python's spec with a deferring loader; or a submodule already imported, once the module has executed."""
        if fullname in self._marks:
            spec = PathFinder.find_spec(fullname, path, target)
            if spec is not None and spec.loader is not None:
                spec.loader = _DeferredLoader(spec.loader, self._marks[fullname])  # type: ignore[assignment]
            return spec
        whole = next((sys.modules.get(name) for name in self._marks if fullname.startswith(f"{name}.")), None)
        if isinstance(whole, _DeferredModule) and fullname not in _INDEPENDENT:
            whole.run()
            if fullname in sys.modules:
                return ModuleSpec(fullname, _ImportedLoader(sys.modules[fullname]))  # type: ignore[arg-type]
        return None


class _DeferredLoader:
    """Loader that creates a module without executing it."""

    def __init__(self, loader: "Loader", marks: tuple[str, ...]) -> None:
        self._loader, self._marks = loader, marks

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return an empty module."""
        return _DeferredModule(spec.name, self._loader, self._marks)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the module executes on first use."""


class _ImportedLoader:
    """Loader that returns a module imported in the meantime."""

    def __init__(self, module: ModuleType) -> None:
        self._module, self._spec = module, module.__spec__

    def create_module(self, _: ModuleSpec) -> ModuleType:
        """Return the imported module."""
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        """Restore the spec of the module, which has executed."""
        module.__spec__ = self._spec


class _DeferredModule(ModuleType):
    """A deferred module; an ordinary one once it has executed."""

    def __init__(self, name: str, loader: "Loader", marks: tuple[str, ...]) -> None:
        super().__init__(name)
        self._first_use = _FirstUse(self, loader)
        for mark in marks:
            setattr(self, mark, partial(self._first_use.mark, mark))
        if name == COMPILER:
            self.disable = self._first_use.disable

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  any attribute of the module
        if name not in _SET_BY_IMPORT:
            self.run()
        return ModuleType.__getattribute__(self, name)

    def run(self) -> None:
        """Execute the module, unless that has begun."""
        self._first_use.run()


class _FirstUse:
    """The first use of a deferred module."""

    def __init__(self, module: ModuleType, loader: "Loader") -> None:
        self._module, self._loader, self._lock = module, loader, RLock()
        self._begun = self._has_run = False
        self._left: list[tuple[str, Callable[..., Any]]] = []

    def run(self) -> None:
        """Execute in place, so existing references stay valid. Other threads wait; its own imports see it as begun."""
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
        """Mark a function, now or once the module has executed."""
        if self._has_run:
            return getattr(self._module, mark)(function)
        self._left.append((mark, function))
        return function

    def disable(self, function: Callable[..., Any] | None = None, recursive: bool = True, **how: object) -> Any:  # noqa: ANN401
        """Exclude a function from compilation through torch._compile, which imports the compiler at the first call."""
        import torch._compile

        if self._begun or not how.keys() <= {"reason"}:  # torch passes other arguments at that first call
            self.run()
            return self._module.disable(function, recursive, **how)
        return torch._compile._disable_dynamo(function, recursive)
