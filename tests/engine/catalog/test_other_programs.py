"""Trees of A1111 and ComfyUI, and the file in which ComfyUI names more of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_files import sdxl_file

from mezzotint.catalog.other_programs import is_tree, places_of_file, places_of_tree, usual_homes


def paths(places):
    return [(place.path, place.source) for place in places]


@pytest.fixture
def file(tmp_path):
    (tmp_path / "comfy").mkdir()
    return tmp_path / "comfy" / "extra_model_paths.yaml"


def folder(path):
    path.mkdir(parents=True)
    return path


def test_a_tree_of_a1111(tmp_path, catalog_of):
    sdxl_file(tmp_path / "webui" / "models" / "Stable-diffusion" / "paper.safetensors")
    sdxl_file(tmp_path / "webui" / "models" / "Lora" / "small.safetensors")
    assert is_tree(tmp_path / "webui")
    listed = {info.id: info.source for info in catalog_of(tmp_path / "webui").models()}
    assert listed == {"starter-dit": "bundled", "paper": "a1111"}


def test_a_tree_of_comfyui(tmp_path, catalog_of):
    sdxl_file(tmp_path / "ComfyUI" / "models" / "checkpoints" / "sdxl" / "paper.safetensors")
    sdxl_file(tmp_path / "ComfyUI" / "models" / "vae" / "small.safetensors")
    listed = {info.id: info.source for info in catalog_of(tmp_path / "ComfyUI").models()}
    assert listed == {"starter-dit": "bundled", "paper": "comfyui"}


@pytest.mark.parametrize(("name", "source"), [("Stable-diffusion", "a1111"), ("checkpoints", "comfyui")])
def test_the_models_folder_of_a_tree_stands_for_the_tree(tmp_path, catalog_of, name, source):
    sdxl_file(tmp_path / "models" / name / "paper.safetensors")
    sdxl_file(tmp_path / "models" / "loras" / "small.safetensors")
    listed = {info.id: info.source for info in catalog_of(tmp_path / "models").models()}
    assert listed == {"starter-dit": "bundled", "paper": source}


def test_the_file_of_more_paths(tmp_path, file):
    base = tmp_path / "webui"
    named = [folder(base / name) for name in ("models/Stable-diffusion", "models/more", "models/diffusers")]
    beside = folder(file.parent / "beside")
    alone = folder(tmp_path / "alone")
    file.write_text(f"""
# a comment
a111:
    base_path: {base}
    is_default: true
    checkpoints: |
        models/Stable-diffusion
        models/more

    diffusers: models/diffusers/
    vae: models/VAE
    loras: |
        models/Lora
        models/LyCORIS
other:
    checkpoints: beside
absolute:
    base_path: {base}
    checkpoints: {alone}
empty:
""")
    places, notices = places_of_file(file)
    assert paths(places) == [(path, "comfyui") for path in (*named, beside, alone)]
    assert notices == ()


def test_a_relative_base_lies_beside_the_file(tmp_path, file):
    target = folder(tmp_path / "webui" / "ckpt")
    file.write_text("a:\n  base_path: ../webui\n  checkpoints: ckpt\n")
    places, _ = places_of_file(file)
    assert [place.path.resolve() for place in places] == [target.resolve()]


def test_a_base_may_lie_at_home(tmp_path, file, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    target = folder(tmp_path / "models")
    file.write_text("a:\n  base_path: ~/\n  checkpoints: models\nb:\n  base_path: ~nobody-there/\n  checkpoints: x\n")
    places, notices = places_of_file(file)
    assert paths(places) == [(target, "comfyui")]
    assert len(notices) == 1


def test_folders_that_are_gone_are_told(file):
    file.write_text("a:\n  checkpoints: none\n")
    places, notices = places_of_file(file)
    assert places == ()
    assert notices == (f"{file} names {file.parent / 'none'}, which does not exist",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "invalid YAML"),
        ("!!python/object/apply:os.system ['touch marker']", "invalid YAML"),
        ("a: !!python/name:os.system", "invalid YAML"),
        ("[" * 60, "invalid YAML"),
        ("[" * 60_000, "60000 opening brackets"),
        ("[{" * 51, "102 opening brackets"),
        ("- a\n- b\n", "no sections"),
        ("", "no sections"),
        ("5", "no sections"),
        ("a: 9999-99-99", "invalid YAML"),
        ("#" * (64 * 2**10 + 1), "larger than the 65536 bytes"),
    ],
)
def test_what_makes_no_sense_is_told_and_nothing_runs(file, monkeypatch, text, message):
    monkeypatch.chdir(file.parent)
    file.write_text(text)
    places, notices = places_of_file(file)
    assert places == ()
    assert message in notices[0]
    assert notices[0].isprintable()
    assert not (file.parent / "marker").exists()


@pytest.mark.parametrize(
    "text",
    [
        "a: 5",
        "a:\n  checkpoints: 5",
        "a:\n  checkpoints: [x, y]",
        "a:\n  base_path: [x]\n  checkpoints: {}",
        '"a": {"checkpoints": "a\\0b"}',
        "1: {2: 3}",
    ],
)
def test_parts_of_other_types_are_passed_over(file, text):
    file.write_text(text)
    assert places_of_file(file) == ((), ())


def test_aliases_do_not_blow_up(file):
    lines = ["a0: &a0 {checkpoints: none}"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 20)]
    file.write_text("\n".join(lines))
    places, notices = places_of_file(file)
    assert (places, len(notices)) == ((), 1)


@given(text=st.text(max_size=60) | st.text("a:-[]{}&*!|>#%@ \n\t'\"", max_size=60))
def test_any_text_is_read_or_told(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("yaml") / "extra_model_paths.yaml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    places, notices = places_of_file(path)
    assert all(place.path.is_dir() for place in places)
    assert all(notice.isprintable() for notice in notices)


def test_a_tree_with_such_a_file_has_both(tmp_path, file):
    own = folder(file.parent / "models" / "checkpoints")
    more = folder(tmp_path / "more")
    file.write_text(f"a:\n  checkpoints: {more}\n")
    places, _ = places_of_tree(file.parent)
    assert paths(places) == [(own, "comfyui"), (more, "comfyui")]


def test_usual_homes_are_those_that_are_there(tmp_path):
    (tmp_path / "stable-diffusion-webui").mkdir()  # without models
    folder(tmp_path / "ComfyUI" / "models" / "checkpoints")
    assert usual_homes(tmp_path) == (tmp_path / "ComfyUI",)


def test_an_ordinary_folder_is_no_tree(tmp_path):
    assert not is_tree(tmp_path)
    assert not is_tree(tmp_path / "none")
