"""Modules that wait: what is seen of them is what is seen of any module, only later."""

import importlib
import os
import subprocess
import sys
from types import ModuleType

import pytest

from mezzotint import Engine
from mezzotint.libraries import COMPILER, DeferringFinder, offline_environment

SLOW = """
from {name} import parts
ran = ran + 1 if "ran" in globals() else 1
value = 7
marked = []
def mark(function):
    marked.append(function)
    return function
def disable(function=None, recursive=True, **how):
    return ("disabled", function, recursive, how)
"""


@pytest.fixture
def slow(tmp_path, monkeypatch):
    """A package that waits: its name."""
    name = f"slow_{tmp_path.name}".replace("-", "_")
    folder = tmp_path / name
    folder.mkdir()
    (folder / "__init__.py").write_text(SLOW.format(name=name))
    (folder / "parts.py").write_text(f"import {name}\nwhole = {name}\n")
    (folder / "other.py").write_text(f"from {name} import value\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "meta_path", [DeferringFinder({name: ("mark",)}), *sys.meta_path])
    yield name
    for each in [module for module in sys.modules if module.partition(".")[0] == name]:
        del sys.modules[each]


def has_run(name):
    return "value" in vars(sys.modules[name])


def test_it_runs_when_it_is_first_used(slow):
    module = importlib.import_module(slow)
    assert module.__name__ == slow and module.__file__.endswith("__init__.py") and not has_run(slow)
    assert module.value == 7 and module.ran == 1
    assert sys.modules[slow] is module and type(module) is ModuleType
    assert module.__spec__.loader is module.__loader__ and module.__loader__.get_source(slow)


def test_a_mark_is_taken_and_handed_over(slow):
    module = importlib.import_module(slow)
    mark = module.mark
    assert mark(print) is print and not has_run(slow)
    assert module.marked == [print]
    assert mark(len) is len and module.marked == [print, len]


def test_a_part_is_imported_once_and_after_the_whole(slow):
    module = importlib.import_module(slow)
    parts = importlib.import_module(f"{slow}.parts")
    assert has_run(slow) and module.parts is parts is sys.modules[f"{slow}.parts"]
    assert parts.whole is module and parts.__spec__.loader.get_source(parts.__name__)


def test_a_part_that_the_whole_does_not_import(slow):
    importlib.import_module(slow)
    assert importlib.import_module(f"{slow}.other").value == 7
    assert has_run(slow)


def test_what_it_lacks_is_an_error_as_ever(slow):
    module = importlib.import_module(slow)
    with pytest.raises(AttributeError, match=f"module '{slow}' has no attribute 'nothing'"):
        _ = module.nothing
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module(f"{slow}.nothing")


def test_one_that_cannot_run_says_so_at_each_use(slow, tmp_path):
    (tmp_path / slow / "__init__.py").write_text("raise ImportError('no such driver')")
    module = importlib.import_module(slow)
    for _ in range(2):
        with pytest.raises(ImportError, match="no such driver"):
            _ = module.value
    assert slow not in sys.modules


def test_what_is_not_installed_is_not_found(monkeypatch):
    monkeypatch.setattr(sys, "meta_path", [DeferringFinder({"not_installed_at_all": ()}), *sys.meta_path])
    assert importlib.util.find_spec("not_installed_at_all") is None


@pytest.mark.slow
def test_torch_compiles_and_knows_what_was_marked(run_python):
    run_python(f"""
        import sys
        from mezzotint.libraries import defer_imports
        defer_imports()
        defer_imports()
        import torch

        @torch.compiler.disable
        def plain(x):
            return x + torch.compiler.is_compiling()

        @torch.compiler.allow_in_graph
        def kept(x):
            return x * 2

        import diffusers.models.attention
        assert "{COMPILER}.convert_frame" not in sys.modules
        made = torch.compile(lambda x: plain(kept(x)) + 1, backend="eager")
        assert made(torch.ones(2)).tolist() == [3, 3]
        assert "{COMPILER}.convert_frame" in sys.modules
        rules = torch._dynamo.trace_rules
        assert rules.is_callable_allowed(kept)
        assert rules.is_callable_allowed(diffusers.models.attention.BasicTransformerBlock)
    """)


@pytest.fixture
def run_python():
    """Runs a program in a process of its own."""
    import subprocess
    import textwrap

    def run(code):
        done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    return run


# ---- off the network


def test_what_was_said_otherwise_is_overruled():
    environ = {"HF_HUB_OFFLINE": "0", "HOME": "/home/me"}
    offline_environment(environ)
    assert environ["HF_HUB_OFFLINE"] == "1"
    assert environ["HF_HUB_DISABLE_TELEMETRY"] == "1"
    assert environ["HF_HUB_DISABLE_IMPLICIT_TOKEN"] == "1"
    assert environ["DO_NOT_TRACK"] == "1"
    assert environ["DIFFUSERS_DISABLE_REMOTE_CODE"] == "true"
    assert environ["TOKENIZERS_PARALLELISM"] == "false"
    assert environ["HOME"] == "/home/me"


def test_libraries_that_were_imported_before_go_offline_too():
    read = {"HF_HUB_OFFLINE": False, "HF_HUB_DISABLE_IMPLICIT_TOKEN": False, "HF_HUB_VERBOSITY": None}
    modules = {name: ModuleType(name) for name in ("huggingface_hub.constants", "mine")}
    for module in modules.values():
        vars(module).update(read)
    offline_environment({}, modules)
    assert modules["huggingface_hub.constants"].HF_HUB_OFFLINE is True
    assert modules["huggingface_hub.constants"].HF_HUB_DISABLE_IMPLICIT_TOKEN is True
    assert modules["mine"].HF_HUB_OFFLINE is False and not hasattr(modules["mine"], "DO_NOT_TRACK")


def test_an_engine_is_offline_whatever_was_imported_or_set_before(monkeypatch):
    from huggingface_hub import constants, is_offline_mode

    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    monkeypatch.setenv("DIFFUSERS_DISABLE_REMOTE_CODE", "false")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    with Engine():
        assert is_offline_mode() and constants.HF_HUB_OFFLINE
        assert (os.environ["HF_HUB_OFFLINE"], os.environ["DIFFUSERS_DISABLE_REMOTE_CODE"]) == ("1", "true")


def test_the_hub_library_understands_it():
    code = (
        f"import sys; sys.path[:0] = {sys.path!r}\n"
        "import os; os.environ['HF_HUB_OFFLINE'] = '0'\n"
        "from mezzotint.libraries import offline_environment\n"
        "offline_environment()\n"
        "from huggingface_hub import constants\n"
        "assert constants.HF_HUB_OFFLINE and constants.HF_HUB_DISABLE_TELEMETRY\n"
        "assert constants.HF_HUB_DISABLE_IMPLICIT_TOKEN\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


REPLACING = """
import sys, time, types
time.sleep(0.3)
whole = types.ModuleType(__name__)
whole.has_classes = True
sys.modules[__name__] = whole
"""
RACING = """
import sys, threading, time
from mezzotint.libraries import import_networks
load = import_networks if sys.argv[1] == "together" else lambda: None
found = []
def use():
    load()
    import transformers
    found.append(hasattr(transformers, "has_classes"))
threads = [threading.Thread(target=use) for _ in range(2)]
for thread in threads:
    thread.start()
    time.sleep(0.1)
for thread in threads:
    thread.join()
print(all(found))
"""


@pytest.mark.parametrize(("how", "is_whole"), [("together", "True"), ("each for itself", "False")])
def test_two_threads_get_the_libraries_that_replace_themselves(tmp_path, monkeypatch, how, is_whole):
    """Each for itself, the second one gets what was replaced: the reason for importing them together."""
    for name in ("diffusers", "transformers"):
        (tmp_path / f"{name}.py").write_text(REPLACING)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    command = [sys.executable, "-P", "-c", RACING, how]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.strip() == is_whole
