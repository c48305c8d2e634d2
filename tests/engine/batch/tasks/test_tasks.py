"""What a job stands for: the same tasks in the same order everywhere, whatever lies in the folder."""

import hashlib
import io
import itertools
import random
import struct
import zlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from mezzotint.batch.job.job import InputFolder, JobFile, JobOutput, Prompts
from mezzotint.batch.job.pruned import pruned
from mezzotint.batch.tasks import material, tasks
from mezzotint.batch.tasks.inputs import folded
from mezzotint.batch.tasks.tasks import BatchTask, Shard, Skipped, tasks_of
from mezzotint.errors import StorageError, UsageError
from mezzotint.images import reading
from mezzotint.options import Options
from mezzotint.protocol import ControlRef, GenerateRequest, ImageInput, LoraRef, ModelRef


def png(path, *, size=(8, 6), color="red", mode="RGB", **said):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new(mode, size, color).save(path, **said)


def words(*prompts, **said):
    return JobFile(prompts=Prompts(list=prompts), **said)


def folder_job(prompt="p", settings=None, output=None, **said):
    return JobFile(
        prompts=Prompts(list=(prompt,) if prompt else ()),
        input=InputFolder(folder="in", **said),
        settings=settings or Options(),
        output=output or JobOutput(),
    )


def made(job, base, shard=None):
    return [one for one in tasks_of(job, base=base, shard=shard) if isinstance(one, BatchTask)]


def passed_over(job, base):
    return {one.input: one.kind for one in tasks_of(job, base=base) if isinstance(one, Skipped)}


# ---- words


def test_rows_then_choices_then_the_matrix_then_the_count(tmp_path):
    job = words(
        "a {1|2}",
        "b",
        settings=Options(seed=10, count=2),
        matrix=(("steps", (3, 4)), ("sampler", ("euler", "heun"))),
    )
    found = [
        (task.request.prompt, task.request.cascade.stages[0].sampling.steps, sampler, task.request.seed)
        for task in made(job, tmp_path)
        for sampler in [task.request.cascade.stages[0].sampling.sampler]
    ]
    assert found == list(itertools.product(["a 1", "a 2", "b"], [3, 4], ["euler", "heun"], [10, 11]))


def test_requests_are_complete_and_for_one_image(tmp_path):
    (task,) = made(words("a", settings=Options(lora=(LoraRef(path="l.safetensors"),), embedding=("e",))), tmp_path)
    request = task.request
    assert request.count == 1
    assert request.seed is not None
    assert request.output.path == str(tmp_path / "out" / task.output)
    assert (request.loras[0].path, request.embeddings) == (str(tmp_path / "l.safetensors"), (str(tmp_path / "e"),))


def test_without_a_seed_each_row_has_its_own_whatever_its_settings(tmp_path):
    job = words("a {1|2}", "b", matrix=(("steps", (3, 4)),))
    seeds = [task.request.seed for task in made(job, tmp_path)]
    assert len(set(seeds[:4])) == 1
    assert len(set(seeds)) == 2
    assert [task.request.seed for task in made(words("b", "a {1|2}"), tmp_path / "elsewhere")] == [seeds[4], *seeds[:2]]


def test_the_same_row_twice_is_made_once_and_told(tmp_path):
    found = list(tasks_of(words("a", "b", "a"), base=tmp_path))
    assert [type(one) for one in found] == [BatchTask, BatchTask, Skipped]
    assert (found[2].kind, found[2].input) == ("twice", "prompt 3 of the list")


def test_rows_of_a_table_say_settings_and_names(tmp_path):
    (tmp_path / "t.csv").write_text("prompt,kind,seed,count,steps\na,x/y,5,2,\nb,z,,,7\n,q,,,\n")
    job = JobFile(prompts=Prompts(table="t.csv"), settings=Options(steps=3), output=JobOutput(name="[kind]-[steps]"))
    found = list(tasks_of(job, base=tmp_path))
    assert [one.output for one in found[:3]] == ["x-y-3-1.png", "x-y-3-2.png", "z-7.png"]
    assert [one.request.seed for one in found[:2]] == [5, 6]
    assert (found[3].kind, found[3].input) == ("no_prompt", "t.csv, line 4")
    assert "column prompt" in found[3].reason and "beside" not in found[3].reason


def test_settings_that_do_not_go_together_are_told_before_anything(tmp_path):
    with pytest.raises(UsageError, match="--refiner"):
        tasks_of(words("a", settings=Options(refiner_at=0.5)), base=tmp_path)
    with pytest.raises(UsageError, match="--hires"):
        tasks_of(words("a", matrix=(("hires-strength", (0.5,)),)), base=tmp_path)
    with pytest.raises(UsageError, match="nothing to generate"):
        tasks_of(JobFile(), base=tmp_path)


def test_a_seed_that_cannot_be_counted_up_costs_its_row(tmp_path):
    assert passed_over(words("a", settings=Options(seed=2**63 - 1, count=2)), tmp_path) == {
        "prompt 1 of the list": "usage"
    }


def test_whole_requests_are_made_as_they_are(tmp_path):
    png(tmp_path / "i.png")
    asked = GenerateRequest(prompt="a {b|c}", images=(ImageInput(path="i.png"),), count=2, seed=4, strength=0.5)
    found = made(JobFile(requests=(asked, replace(asked, seed=None))), tmp_path)
    assert [task.request.prompt for task in found] == ["a {b|c}"] * 4
    assert [task.request.seed for task in found[:2]] == [4, 5]
    assert found[0].request.images[0].sha256 == hashlib.sha256((tmp_path / "i.png").read_bytes()).hexdigest()
    changed = made(JobFile(requests=(asked,), settings=Options(strength=0.7)), tmp_path)
    assert {task.request.strength for task in changed} == {0.7}


def test_models_in_files_are_found_from_the_job_and_ids_stay(tmp_path):
    (tmp_path / "m.safetensors").write_bytes(b"")
    (tmp_path / "starter-dit").mkdir()
    models = ("m.safetensors", "starter-dit", "n.safetensors", "./starter-dit")
    found = [made(words("a", settings=Options(model=model)), tmp_path)[0] for model in models]
    assert [task.request.cascade.stages[0].model for task in found] == [
        ModelRef(id=str(tmp_path / "m.safetensors")),
        ModelRef(id="starter-dit"),
        ModelRef(id="n.safetensors"),
        ModelRef(id=str(tmp_path / "starter-dit")),
    ]


# ---- keys


def key(tmp_path, settings=None, **said):
    return made(replace(words("a", settings=settings or Options(seed=1)), **said), tmp_path)[0]


def test_keys_are_of_what_decides_the_image(tmp_path):
    first = key(tmp_path)
    for other in (
        key(tmp_path / "elsewhere"),
        key(tmp_path, output=JobOutput(folder="x", name="y", format="webp")),
        key(tmp_path, Options(seed=1, device="cpu", memory="lowest", vram_limit=2**30, strict=True)),
    ):
        assert (other.key, other.settings_hash) == (first.key, first.settings_hash)
    for other in (Options(seed=1, steps=3), Options(seed=1, quant="int8"), Options(seed=1, negative="b")):
        assert key(tmp_path, other).key != first.key
        assert key(tmp_path, other).settings_hash != first.settings_hash
    assert key(tmp_path, Options(seed=2)).key != first.key
    assert key(tmp_path, Options(seed=2)).settings_hash == first.settings_hash


def test_a_key_stays_what_it_was_in_earlier_versions(tmp_path):
    """It stands in manifests: were it to change, finished jobs would be made again."""
    assert key(tmp_path).key[:16] == "cef6449780d4305b"
    png(tmp_path / "in" / "a.bmp")
    assert made(folder_job(settings=Options(seed=1)), tmp_path)[0].key[:16] == "e7735f69e5e23064"


def test_a_changed_input_is_another_task_under_the_same_name(tmp_path):
    png(tmp_path / "in" / "a.png")
    (before,) = made(folder_job(), tmp_path)
    png(tmp_path / "in" / "a.png", color="blue")
    (after,) = made(folder_job(), tmp_path)
    assert before.key != after.key
    assert before.input_hash != after.input_hash
    assert (before.output, before.settings_hash, before.request.seed) == (
        after.output,
        after.settings_hash,
        after.request.seed,
    )


def test_a_changed_control_image_is_another_task(tmp_path):
    def only():
        (one,) = made(words("p", settings=Options(control=(ControlRef(image="c.png", model="nets/net"),))), tmp_path)
        return one

    png(tmp_path / "c.png")
    before = only()
    png(tmp_path / "c.png", color="blue")
    after = only()
    assert before.key != after.key
    (control,) = after.request.controls
    assert (control.image, control.model) == (str(tmp_path / "c.png"), str(tmp_path / "nets/net"))
    assert len(control.image_sha256) == 64


# ---- folders


def test_images_of_a_folder_with_their_words_and_masks(tmp_path):
    for name in ("a.png", "b.png", "deep/a.png", "nomask.png"):
        png(tmp_path / "in" / name)
    for name in ("a.png", "b.png", "deep/a.png"):
        png(tmp_path / "masks" / name, color="white")
    (tmp_path / "in" / "b.txt").write_text("its {own|words}")
    job = folder_job("p {1|2}", recursive=True, masks="masks", sidecars=True, settings=Options(seed=3))
    found = made(job, tmp_path)
    assert [(task.input, task.request.prompt, task.output) for task in found] == [
        ("a.png", "p 1", "a.png"),
        ("a.png", "p 2", "a-2.png"),
        ("b.png", "its {own|words}", "b.png"),
        ("deep/a.png", "p 1", "deep/a.png"),
        ("deep/a.png", "p 2", "deep/a-2.png"),
    ]
    init, mask = found[3].request.images
    assert (init.path, init.role) == (str(tmp_path / "in" / "deep" / "a.png"), "init")
    assert (mask.path, mask.role) == (str(tmp_path / "masks" / "deep" / "a.png"), "mask")
    assert passed_over(job, tmp_path) == {"nomask.png": "no_mask"}


def test_images_that_are_edited_are_the_first_reference(tmp_path):
    for name in ("a.png", "b.png"):
        png(tmp_path / "in" / name)
    png(tmp_path / "style.png", color="blue")
    job = folder_job("make it winter", work="edit", settings=Options(reference=("style.png",)))
    tasks_made = made(job, tmp_path)
    assert [[(one.role, one.path) for one in task.request.images] for task in tasks_made] == [
        [("reference", str(tmp_path / "in" / name)), ("reference", str(tmp_path / "style.png"))]
        for name in ("a.png", "b.png")
    ]
    assert all(one.sha256 for task in tasks_made for one in task.request.images)
    change = made(folder_job("make it winter"), tmp_path)
    assert not {task.key for task in change} & {task.key for task in tasks_made}


def test_images_that_are_edited_have_no_masks(tmp_path):
    png(tmp_path / "in" / "a.png")
    with pytest.raises(UsageError, match="remove masks"):
        made(folder_job("p", work="edit", masks="masks"), tmp_path)


def test_images_without_words_are_passed_over(tmp_path):
    png(tmp_path / "in" / "a.png")
    assert passed_over(folder_job("", sidecars=True), tmp_path) == {"a.png": "no_prompt"}


def test_images_of_a_job_that_has_no_words_are_not_passed_over_one_by_one(tmp_path):
    png(tmp_path / "in" / "a.png")
    (tmp_path / "in" / "a.txt").write_text("a house")
    with pytest.raises(UsageError, match="no prompt.* sidecars"):
        tasks_of(folder_job(""), base=tmp_path)
    assert passed_over(folder_job("", sidecars=True), tmp_path) == {}
    assert passed_over(folder_job("", work="again"), tmp_path) == {"a.png": "usage"}


def test_folders_that_cannot_be(tmp_path):
    with pytest.raises(StorageError, match="does not exist"):
        list(tasks_of(folder_job(), base=tmp_path))
    png(tmp_path / "in" / "a.png")
    with pytest.raises(UsageError, match="both the input folder and the output"):
        list(tasks_of(folder_job(output=JobOutput(folder="in/../in")), base=tmp_path))
    with pytest.raises(UsageError, match="masks"):
        list(tasks_of(folder_job(masks="in"), base=tmp_path))
    with pytest.raises(UsageError, match="mask folder"):
        list(tasks_of(folder_job(masks="none"), base=tmp_path))


def test_what_is_made_is_not_taken_as_input_nor_put_among_them(tmp_path):
    png(tmp_path / "in" / "a.png")
    png(tmp_path / "in" / "out" / "a.png")
    inside = folder_job(recursive=True, output=JobOutput(folder="in/out"))
    assert [task.input for task in made(inside, tmp_path)] == ["a.png"]
    around = folder_job(output=JobOutput(folder=".", name="in/[stem]", existing="overwrite"))
    assert passed_over(around, tmp_path) == {"a.png": "usage"}


def recorded(text):
    info = PngInfo()
    info.add_text("parameters", text)
    return info


A1111 = "a tree\nNegative prompt: rain\nSteps: 9, Sampler: Euler, CFG scale: 4, Seed: 77, Size: 64x32, Model: theirs"


def test_images_made_again_from_what_they_say(tmp_path):
    png(tmp_path / "in" / "a.png", pnginfo=recorded(A1111))
    png(tmp_path / "in" / "b.png")
    png(tmp_path / "in" / "c.png", pnginfo=recorded("{" * 10_000))
    job = folder_job("", work="again", settings=Options(steps=12, model="ours"))
    (task,) = made(job, tmp_path)
    stage = task.request.cascade.stages[0]
    assert (task.request.prompt, task.request.negative_prompt, task.request.seed) == ("a tree", "rain", 77)
    assert (stage.model.id, stage.sampling.steps, stage.width, task.request.images) == ("ours", 12, 64, ())
    assert task.input_hash == hashlib.sha256((tmp_path / "in" / "a.png").read_bytes()).hexdigest()
    assert task.notices == (
        "a.png, made by a1111: not used: model theirs, its noise and arithmetic (the new image will differ)",
    )
    assert set(passed_over(job, tmp_path)) == {"b.png", "c.png"}
    (other,) = made(replace(job, prompts=Prompts(list=("a bush",))), tmp_path)
    assert (other.request.prompt, other.request.seed) == ("a bush", 77)


# ---- images made to hurt


def bomb(path):
    """400 million pixels of one bit."""
    row = zlib.compress(bytes(2501) * 20_000, 9)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 20_000, 20_000, 1, 0, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", row) + chunk(b"IEND", b""))


def text_bomb(path):
    plain = io.BytesIO()
    Image.new("RGB", (4, 4)).save(plain, "PNG")
    data = zlib.compress(bytes(1 << 20), 9)
    body = b"k\0\0" + data
    chunk = struct.pack(">I", len(body)) + b"zTXt" + body + struct.pack(">I", zlib.crc32(b"zTXt" + body))
    start, end = plain.getvalue()[:33], plain.getvalue()[33:]
    path.write_bytes(start + chunk * 100 + end)


def test_bad_images_are_told_and_the_others_made(tmp_path):
    folder = tmp_path / "in"
    for mode in ("RGB", "CMYK", "I;16", "P", "LA", "1"):
        png(folder / f"good-{mode.replace(';', '')}.tif", mode=mode, color=0 if mode != "LA" else (0, 0))
    png(folder / "good-one.png", size=(1, 1))
    png(folder / "good-long.png", size=(1, 20_000))
    png(folder / "good-tiff-named.png", format="TIFF")
    bomb(folder / "bomb.png")
    text_bomb(folder / "good-text.png")  # only its texts are left out
    (folder / "empty.png").write_bytes(b"")
    (folder / "words.jpg").write_text("not an image at all")
    (folder / "zeros.png").write_bytes(bytes(100))
    (folder / "cut.png").write_bytes((folder / "good-one.png").read_bytes()[:20])
    job = folder_job()
    found = list(tasks_of(job, base=tmp_path))
    assert {one.input for one in found if isinstance(one, BatchTask)} == {
        path.name for path in folder.iterdir() if path.name.startswith("good")
    }
    bad = {one.input: one.kind for one in found if isinstance(one, Skipped)}
    assert bad.keys() >= {"bomb.png", "empty.png", "words.jpg", "zeros.png", "cut.png"}
    assert set(bad.values()) == {"image_refused"}


def test_an_image_that_may_not_be_read(tmp_path, monkeypatch):
    def denied(path, *_, **__):
        raise PermissionError(13, "denied")

    png(tmp_path / "in" / "a.png")
    monkeypatch.setattr(reading, "open", denied, raising=False)
    assert passed_over(folder_job(), tmp_path) == {"a.png": "image_refused"}


def test_an_image_that_goes_away_between_the_look_and_the_use(tmp_path, monkeypatch):
    png(tmp_path / "in" / "a.png")
    png(tmp_path / "in" / "b.png")
    whole = material.scan

    def scan(search, **said):
        for one in whole(search, **said):
            one.path.unlink() if one.relative == "a.png" else None
            yield one

    monkeypatch.setattr(material, "scan", scan)
    found = list(tasks_of(folder_job(), base=tmp_path))
    assert [(type(one), one.input) for one in found] == [(Skipped, "a.png"), (BatchTask, "b.png")]


def test_a_bad_image_is_told_once_for_all_of_its_tasks_and_keeps_its_names(tmp_path):
    png(tmp_path / "in" / "a.png")
    (tmp_path / "in" / "A.gif").write_text("none")
    job = folder_job(settings=Options(count=2), output=JobOutput(name="[stem]-[index]"))
    found = list(tasks_of(job, base=tmp_path))
    assert [one.input for one in found if isinstance(one, Skipped)] == ["A.gif"]
    assert [one.output for one in found if isinstance(one, BatchTask)] == ["a-1-2.png", "a-2-2.png"]


# ---- shards, order, memory


def many(tmp_path, count=12):
    for number in range(count):
        png(tmp_path / "in" / f"{number % 3}" / f"{'aA'[number % 2]}{number // 4}.{'png' if number % 4 else 'bmp'}")
    (tmp_path / "in" / "bad.png").write_text("bad")
    return folder_job("p {1|2}", settings=Options(count=2), recursive=True)


@pytest.mark.parametrize("count", [1, 2, 7])
def test_shards_make_together_what_one_run_makes(tmp_path, count):
    job = many(tmp_path)
    whole = {task.key: task for task in made(job, tmp_path)}
    parts = [made(job, tmp_path, Shard(index=index, count=count)) for index in range(count)]
    assert sum(map(len, parts)) == len(whole)
    assert {task.key: task for part in parts for task in part} == whole
    assert len({folded(task.output) for task in whole.values()}) == len(whole)


def test_a_shard_reads_no_images_of_others(tmp_path, monkeypatch):
    job = many(tmp_path)
    opened = []
    real = material._sha256
    monkeypatch.setattr(material, "_sha256", lambda path: opened.append(path) or real(path))
    shard = Shard(index=0, count=5)
    own = {task.input for task in made(job, tmp_path, shard)}
    opened = [path.relative_to(tmp_path / "in").as_posix() for path in opened]
    assert set(opened) - {"bad.png"} == own
    assert len(opened) == len(set(opened))


def test_the_order_is_not_that_of_the_disk(tmp_path, monkeypatch):
    from mezzotint.batch.tasks import inputs

    job, real = many(tmp_path), inputs.scandir
    first = made(job, tmp_path)

    def shuffled(folder):
        entries = list(real(folder))
        random.Random(len(entries)).shuffle(entries)
        return iter(entries)

    monkeypatch.setattr(inputs, "scandir", shuffled)
    assert made(job, tmp_path) == first


def test_tasks_come_one_at_a_time(tmp_path, monkeypatch):
    """Counted: for the first task of very many one image is opened, and none is kept."""
    for number in range(3):
        png(tmp_path / "in" / f"{number}.png")
    hashed = []
    real = tasks.hash_images
    monkeypatch.setattr(tasks, "hash_images", lambda *args: hashed.append(1) or real(*args))
    stream = tasks_of(folder_job(), base=tmp_path)
    assert hashed == []
    for number in range(3):
        assert next(stream).input == f"{number}.png"
        assert len(hashed) == number + 1


@given(st.data())
def test_any_job_of_words_gives_tasks_that_differ(tmp_path_factory, data):
    prompts = data.draw(st.lists(st.text(st.sampled_from("a{|}_ \\"), max_size=8), min_size=1, max_size=4))
    job = words(
        *prompts,
        settings=Options(count=data.draw(st.integers(1, 3))),
        matrix=data.draw(st.sampled_from([(), (("steps", (1, 2)),), (("seed", (1, 2)), ("size", ("8x8",)))])),
    )
    base = tmp_path_factory.getbasetemp()
    found = made(job, base)
    assert len({task.key for task in found}) == len(found) == len({task.output for task in found})
    assert made(job, base) == found


def test_an_engine_that_can_be_asked_for_more_has_the_same_keys():
    assert pruned(GenerateRequest(prompt="a")) == {"prompt": "a"}
    assert pruned(GenerateRequest(prompt="a", loras=(LoraRef(path="l"),), strict=True)) == {
        "prompt": "a",
        "loras": [{"path": "l"}],
        "strict": True,
    }
