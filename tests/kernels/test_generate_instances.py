"""The files of instances are those that their table gives."""

import importlib.util
import sys

import pytest


@pytest.fixture
def script(root, monkeypatch):
    """generate_instances.py, which is no package, as a module."""
    spec = importlib.util.spec_from_file_location("generate_instances", root / "kernels/generate_instances.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)  # where dataclasses look for it
    spec.loader.exec_module(module)
    return module


def test_they_are_what_the_script_would_write(script):
    assert script.main(["--check"]) == 0


def test_a_change_is_noticed_and_writing_again_undoes_it(script, monkeypatch, tmp_path):
    monkeypatch.setattr(script, "FOLDER", tmp_path / "instances")
    monkeypatch.setattr(script, "BACKWARD_FOLDER", tmp_path / "backward")
    assert script.main(["--check"]) == 1
    assert script.main([]) == 0
    assert script.main(["--check"]) == 0
    (tmp_path / "instances" / "old.cu").write_text("")
    some = next(path for path in (tmp_path / "instances").iterdir() if path.stat().st_size)
    some.write_text("// changed\n")
    assert script.main(["--check"]) == 1
    assert script.main([]) == 0
    assert script.main(["--check"]) == 0
    assert not (tmp_path / "instances" / "old.cu").exists()


def test_backward_has_the_head_sizes_of_the_forward(script):
    assert script.BACKWARD_SHAPES.keys() == script.SHAPES.keys()
    assert {name for name, _ in script.backward_files()} == {
        name if name == "all.cpp" else f"backward_{name}" for name, _ in script.files() if not name.startswith("hopper")
    }


def test_the_head_sizes_of_image_models_are_there_in_both_formats(script):
    names = {name for name, _ in script.files()}
    for head_dim in (40, 64, 72, 80, 88, 96, 112, 128, 160, 256, 384, 512):
        assert {f"float16_{head_dim}.cu", f"bfloat16_{head_dim}.cu"} <= names
