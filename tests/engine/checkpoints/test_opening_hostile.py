"""Nothing in a hostile model is imported or executed, and nothing of it reaches another machine."""

import json
import subprocess
import sys

import pytest
from model_files import change_json, pickle_that_runs, sdxl_folder, torch_archive_that_runs

WATCH = """if True:
    import sys

    from mezzotint.checkpoints.opening import open_checkpoint
    from mezzotint.errors import MezzotintError
    from pathlib import Path

    path = Path(sys.argv[1])
    seen = []
    FORBIDDEN = (
        "exec", "compile", "import", "marshal", "pickle", "subprocess", "os.system", "os.exec", "os.posix_spawn",
        "os.fork", "socket", "urllib", "ctypes", "code.", "shutil", "os.remove", "os.rename", "os.mkdir",
    )

    def watch(event, arguments):
        if event.startswith(FORBIDDEN) or (event == "open" and arguments[1] not in (None, "r", "rb")):
            seen.append(f"{event} {arguments[:2]!r}")

    sys.addaudithook(watch)
    try:
        open_checkpoint(path)
        outcome = "opened"
    except MezzotintError as error:
        outcome = str(error)
    import json
    print(json.dumps({"outcome": outcome, "seen": seen}))
"""


def opened(path):
    run = subprocess.run([sys.executable, "-c", WATCH, str(path)], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def code_in_the_folder(folder, marker):
    for name in ("pipeline.py", "unet/evil.py"):
        (folder / name).write_text(f"open({str(marker)!r}, 'w')")
    change_json(folder / "model_index.json", unet=["evil", "Evil"])


def library_in_the_index(folder, marker):
    # The library's name is what diffusers hands to importlib; this one is on the path.
    change_json(folder / "model_index.json", unet=["antigravity", "fly"])


def custom_pipeline(folder, marker):
    change_json(folder / "model_index.json", custom_pipeline="pipeline", _class_name=["pipeline", "Evil"])


def remote_code(folder, marker):
    change_json(folder / "text_encoder" / "config.json", auto_map={"AutoModel": "evil--m.M"}, trust_remote_code=True)


def pickled_weights(folder, marker):
    weights = folder / "unet" / "diffusion_pytorch_model.safetensors"
    weights.unlink()
    torch_archive_that_runs(weights.with_suffix(".bin"), marker)


def pickle_as_weights(folder, marker):
    torch_archive_that_runs(folder / "unet" / "diffusion_pytorch_model.safetensors", marker)


@pytest.mark.parametrize(
    "make",
    [code_in_the_folder, library_in_the_index, custom_pipeline, remote_code, pickled_weights, pickle_as_weights],
)
def test_a_hostile_folder_runs_nothing(tmp_path, make):
    folder, marker = sdxl_folder(tmp_path / "model"), tmp_path / "marker"
    make(folder, marker)
    result = opened(folder)
    assert result["outcome"].startswith(str(folder))
    assert result["seen"] == []
    assert not marker.exists()


@pytest.mark.parametrize("name", ["model.ckpt", "model.pt", "model.bin", "model.safetensors"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_pickle_runs_nothing_whatever_it_is_called(tmp_path, name, packed):
    path, marker = tmp_path / name, tmp_path / "marker"
    if packed:
        torch_archive_that_runs(path, marker)
    else:
        path.write_bytes(pickle_that_runs(marker))
    result = opened(path)
    assert "pickle" in result["outcome"]
    assert result["seen"] == []
    assert not marker.exists()


def test_the_pickle_is_a_real_one(tmp_path):
    marker = tmp_path / "marker"
    (tmp_path / "x.pkl").write_bytes(pickle_that_runs(marker))
    code = f"import pickle; pickle.load(open({str(tmp_path / 'x.pkl')!r}, 'rb'))"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    assert marker.exists()


def test_over_a_proper_folder_the_watch_is_quiet(tmp_path):
    assert opened(sdxl_folder(tmp_path / "model")) == {"outcome": "opened", "seen": []}


def test_the_watch_sees_an_import(tmp_path):
    noisy = WATCH.replace("        open_checkpoint(path)", "        import this")
    run = subprocess.run([sys.executable, "-c", noisy, str(tmp_path)], capture_output=True, text=True, timeout=60)
    assert any("import ('this'" in line for line in json.loads(run.stdout.splitlines()[-1])["seen"]), run.stderr


def test_opening_loads_no_torch():
    code = (
        "import sys, mezzotint.checkpoints.opening, mezzotint.checkpoints.read, mezzotint.catalog; print(*sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert {"torch", "diffusers", "transformers", "safetensors", "numpy", "yaml"}.isdisjoint(run.stdout.split())
