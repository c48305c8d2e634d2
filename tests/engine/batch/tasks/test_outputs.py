"""Names of images: below the output folder, for any disk, none twice, the same on every machine."""

from datetime import datetime
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.batch.job.job import JobOutput
from mezzotint.batch.tasks.inputs import folded
from mezzotint.batch.tasks.outputs import NamedBy, Names, as_template, check_name, whole_path
from mezzotint.errors import UsageError
from mezzotint.images.naming import NameFields, image_path
from mezzotint.protocol import Cascade, GenerateRequest, ModelRef, Output, Sampling, Stage

REQUEST = GenerateRequest(
    prompt="a red house",
    seed=7,
    cascade=Cascade(
        stages=(Stage(width=64, height=32, model=ModelRef(id="org/m.safetensors"), sampling=Sampling(steps=9)),)
    ),
)


def by(relative=None, *, request=REQUEST, row=1, index=0, count=1, cell="", fields=None):
    return NamedBy(request=request, input=relative, row=row, index=index, count=count, cell=cell, fields=fields or {})


def namer(*, has_input=True, matrix=(), **said):
    names = Names(JobOutput(**said), has_input=has_input, matrix=matrix)
    return lambda *args, **fields: names.name(by(*args, **fields)).path


def test_after_the_input_or_the_row():
    assert namer()("deep/a.b.jpg") == "deep/a.b.png"
    assert namer(keep_tree=False, format="webp")("deep/a.jpg") == "a.webp"
    assert namer(has_input=False)(row=12) == "0012-a-red-house.png"


def test_every_token():
    name = "[stem]/[row]-[prompt]-[seed]-[index]of[count]-[matrix]-[model]-[width]x[height]-[steps] [[x] [kind]"
    made = namer(name=name)("in/a.png", index=2, count=12, cell="steps-9", fields={"kind": "x/../y"})
    assert made == "in/a/0001-a-red-house-7-03of12-steps-9-m-64x32-9 [x] x-..-y.png"


def test_several_images_and_a_matrix_are_told_apart():
    assert namer()("a.png", index=1, count=10) == "a-02.png"
    assert namer(name="[seed]")("a.png", index=1, count=10) == "7.png"
    assert namer(matrix=["steps"])("a.png", cell="steps-9") == "a-steps-9.png"
    assert namer(matrix=["steps", "size"], name="[steps]-[width]-[height]")("a.png", cell="x") == "9-64-32.png"


def test_twins_of_any_disk_get_numbers():
    name = namer()
    inputs = ["a.png", "A.jpg", "a.jpg", "a-2.png", "a\u0308.png", "ä.png", "X/a.png", "x/A.png"]
    made = [name(one) for one in inputs]
    assert made[:4] == ["a.png", "A-2.png", "a-3.png", "a-2-2.png"]
    assert len({folded(one) for one in made}) == len(inputs)


def test_a_twin_is_told():
    names = Names(JobOutput(name="same"), has_input=True)
    assert [names.name(by("a.png")).is_twin for _ in range(3)] == [False, True, True]


@given(
    st.lists(st.text(min_size=1, max_size=4).filter(lambda one: one.strip(".") and "/" not in one), max_size=12),
    st.sampled_from([None, "[stem]", "[prompt]", "[thing]/[stem]", "x"]),
    st.text(max_size=300),
)
def test_no_name_leaves_the_folder_nor_comes_twice(inputs, name, thing):
    names = Names(JobOutput(name=name), has_input=True)
    made = [names.name(by(f"{one}/{one}.png", fields={"thing": thing})).path for one in inputs]
    assert len({folded(one) for one in made}) == len(made)
    for one in made:
        for parts in (PurePosixPath(one).parts, PureWindowsPath(one).parts):
            assert ".." not in parts
            assert all(len(part.encode()) <= 255 and part == part.rstrip(" .") for part in parts)
        assert not PureWindowsPath(one).drive
        assert not PureWindowsPath(one).root
        assert not PureWindowsPath(one).is_reserved()


def test_a_thousand_of_one_name_are_counted_up():
    name = namer(name="same")
    assert [name("a.png") for _ in range(1000)][-1] == "same-1000.png"


@pytest.mark.parametrize(
    "name", ["../x", "a/../b", "/abs/x", "a//b", "", " ", "a/.", "a\x00b", "x.gif.jpg", "[date]", "[nop]"]
)
def test_templates_that_cannot_be(name):
    with pytest.raises(UsageError):
        check_name(JobOutput(name=name), columns_may_be=False)


def test_columns_may_be_tokens_but_the_time_never_is():
    check_name(JobOutput(name="[thing]"), columns_may_be=True)
    with pytest.raises(UsageError, match="the same in every run"):
        check_name(JobOutput(name="[time]"), columns_may_be=True)
    with pytest.raises(UsageError, match=r"\[thing\]"):
        namer(name="[thing]")("a.png")


def test_a_value_that_nobody_says():
    plain = GenerateRequest(prompt="a", seed=1)
    for token in ("model", "width", "steps", "sampler"):
        with pytest.raises(UsageError, match=token):
            namer(name=f"[{token}]")("a.png", request=plain)
    with pytest.raises(UsageError, match="stem"):
        namer(name="[stem]", has_input=False)()


def test_windows_takes_short_paths_only(tmp_path):
    long = "/".join(["x" * 60] * 5) + ".png"
    assert whole_path(tmp_path, long, windows=False) == tmp_path.joinpath(*long.split("/"))
    with pytest.raises(UsageError, match="Windows"):
        whole_path(tmp_path, long, windows=True)


@given(st.text(st.sampled_from("ab[]"), min_size=1, max_size=12))
def test_the_engine_takes_the_planned_name_as_it_is(stem):
    path = Path("/nowhere/at all") / f"{stem}.png"
    now = datetime(2026, 1, 1)
    fields = NameFields(
        seed=1, prompt="p", model="m", width=1, height=1, steps=1, sampler="s", index=0, count=1, now=now
    )
    assert image_path(Output(path=as_template(path)), fields) == path
