"""Import rules beyond those of import-linter, and modules that startup must not load."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ["torch", "diffusers", "transformers"]
# All of the engine that the app may import.
BOUNDARY = {
    "mezzotint",
    "mezzotint.protocol",
    "mezzotint.library_protocol",
    "mezzotint.request_protocol",
    "mezzotint.sampling_protocol",
    "mezzotint.option",
    "mezzotint.values.basic",
    "mezzotint.values.keyed",
    "mezzotint.values.prompt_editing",
    "mezzotint.values.details",
    "mezzotint.values.regions",
    "mezzotint.values.sizes",
    "mezzotint.values.speed",
    "mezzotint.values.style_text",
    "mezzotint.options",
    "mezzotint.batch_protocol",
    "mezzotint.queue_protocol",
    "mezzotint.training_protocol",
    "mezzotint.codec",
    "mezzotint.control_protocol",
    "mezzotint.errors",
    "mezzotint.trouble",
    "mezzotint.paths",
    "mezzotint.atomic",
    "mezzotint.jobs.store",
}
STANDARD_LIBRARY_ONLY = {
    "protocol.py": {"mezzotint"},
    "request_protocol.py": {"mezzotint"},
    "sampling_protocol.py": {"mezzotint"},
    "control_protocol.py": {"mezzotint"},
    "option.py": {"mezzotint"},
    "values/basic.py": set(),
    "values/keyed.py": {"mezzotint"},
    "values/regions.py": {"mezzotint"},
    "values/sizes.py": {"mezzotint"},
    "values/speed.py": {"mezzotint"},
    "values/style_text.py": set(),
    "options.py": {"mezzotint"},
    "memory_protocol.py": {"mezzotint"},
    "model_protocol.py": {"mezzotint"},
    "batch_protocol.py": set(),
    "library_protocol/__init__.py": {"mezzotint"},
    "library_protocol/editing.py": {"mezzotint"},
    "values/details.py": {"mezzotint"},
    "queue_protocol.py": {"mezzotint"},
    "errors.py": set(),
    "trouble.py": {"mezzotint"},
    "atomic.py": {"mezzotint"},
    "codec.py": {"mezzotint"},
    "paths.py": {"platformdirs"},
}


def test_the_engine_knows_no_qt(sources):
    for path, tree in sources.items():
        if path.parts[0] == "engine":
            assert {name.split(".")[0] for name in imported(tree)}.isdisjoint({"PySide6", "mezzotint_app"}), path


def test_the_app_knows_the_boundary_only(sources):
    for path, tree in sources.items():
        if path.parts[0] == "app":
            names = imported(tree)
            assert {name.split(".")[0] for name in names}.isdisjoint(HEAVY), path
            assert {name for name in names if name.split(".")[0] == "mezzotint"} <= BOUNDARY, path


def test_what_reaches_the_net_is_imported_by_the_fetching_process_alone(sources):
    net = {"httpx2", "huggingface_hub.file_download", "huggingface_hub.HfApi", "huggingface_hub.get_session"}
    loaders = {path for path, tree in sources.items() if net & imported(tree)}
    folder = Path("engine/mezzotint/library/downloads")
    assert loaders == {folder / f"{name}.py" for name in ("look", "net", "search", "transfer")}
    known = {f"mezzotint.library.downloads.{name}" for name in ("look", "net", "search")}
    askers = {path for path, tree in sources.items() if known & imported(tree)}
    assert askers == {folder.parent / "fetching.py", folder / "look.py", folder / "search.py"}


@pytest.mark.parametrize("name", STANDARD_LIBRARY_ONLY)
def test_the_boundary_needs_the_standard_library_only(sources, name):
    names = {each.split(".")[0] for each in imported(sources[Path("engine/mezzotint", name)])}
    assert names <= sys.stdlib_module_names | STANDARD_LIBRARY_ONLY[name]


@pytest.mark.parametrize(
    "start",
    [
        "import mezzotint.cli",
        pytest.param("import mezzotint_app.main", marks=pytest.mark.requires_package("PySide6")),
        "command('--help')",
        "command('--version')",
        "command('generate', '--help')",
        "command('models', 'list')",
    ],
)
def test_a_start_does_not_load_torch(start):
    code = f"""if True:
        import json, sys

        def command(*words):
            from mezzotint.cli import main

            sys.argv = ["mezzotint", *words]
            try:
                status = main()
            except SystemExit as stop:
                status = stop.code
            assert not status, status

        {start}
        print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == []


# Imported by the libraries that we use, but needed for no image.
NEEDLESS = [
    "bitsandbytes.nn",
    "networkx",
    "sympy",
    "torch._dynamo.convert_frame",
    "torch._inductor",
    "torch.distributed.checkpoint",
    "torch.distributed.fsdp",
    "torch.distributed.tensor",
    "torch.onnx",
]


@pytest.mark.slow
@pytest.mark.parametrize("model", ["starter-dit", "starter-xl"])
def test_an_image_loads_nothing_needless(model, tmp_path):
    code = f"""if True:
        import json, sys
        from mezzotint.cli import main

        status = main(["generate", "a house", "-m", {model!r}, "--steps", "1", "-o", {str(tmp_path / "house")!r}])
        assert not status, status
        print(json.dumps([name for name in {NEEDLESS!r} if name in sys.modules]))
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == []


def imported(tree: ast.Module) -> set[str]:
    """Return the full names of all modules that a source imports, at module level or inside functions."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
            if node.module in ("mezzotint", "huggingface_hub"):
                names.update(f"{node.module}.{alias.name}" for alias in node.names if not alias.name.startswith("__"))
    return names
