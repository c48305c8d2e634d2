"""Wildcards and choices: all of them, or one by the seed; from one folder, with limits."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.batch.tasks.wildcards import DEEPEST, MOST_PROMPTS, Wildcards, drawn
from mezzotint.batch_protocol import DrawRequest
from mezzotint.errors import UsageError
from mezzotint.jobs.matrix import alternatives


@pytest.fixture
def folder(tmp_path):
    inside = tmp_path / "w"
    inside.mkdir()
    (tmp_path / "outside.txt").write_text("secret")
    return inside


def write(folder, **files):
    for name, lines in files.items():
        (folder / f"{name}.txt").write_text("\n".join(lines), "utf-8")
    return Wildcards(folder)


def test_every_line_and_lines_in_lines(folder):
    found = write(folder, animal=["cat", "# none", "", "{big|small} __bird__"], bird=["owl", "a|b {c}"])
    assert found.every("a __animal__ {here|there}") == tuple(
        f"a {animal} {place}"
        for place in ("here", "there")
        for animal in ("cat", "big owl", "big a|b {c}", "small owl", "small a|b {c}")
    )


def test_wildcards_in_choices_and_next_to_each_other(folder):
    found = write(folder, a=["1", "2"], b=["x"])
    assert found.every("{__a__|none} __a____b__") == ("1 1x", "1 2x", "2 1x", "2 2x", "none 1x", "none 2x")


def test_names_with_folders_and_names_that_are_none(folder):
    (folder / "deep").mkdir()
    (folder / "deep" / "hair_color.txt").write_text("red")
    found = Wildcards(folder)
    assert found.every("__deep/hair_color__ ____ __ a __ snake_case") == ("red ____ __ a __ snake_case",)
    assert Wildcards(None).every("__x__") == ("__x__",)


@pytest.mark.parametrize("name", ["../outside", "/etc/passwd", "..", "deep/../../outside", "C:outside"])
def test_no_name_leads_out_of_the_folder(folder, name):
    found = write(folder, ok=["1"])
    try:
        assert found.every(f"__{name}__") == (f"__{name}__",)
    except UsageError as error:
        assert "secret" not in str(error)


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
def test_links_out_of_the_folder_are_not_followed(folder):
    (folder / "link.txt").symlink_to(folder.parent / "outside.txt")
    (folder / "round.txt").symlink_to(folder / "round.txt")
    found = Wildcards(folder)
    with pytest.raises(UsageError, match="is outside its folder"):
        found.every("__link__")
    with pytest.raises(UsageError, match="round"):
        found.every("__round__")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
def test_pipes_are_not_waited_for(folder):
    os.mkfifo(folder / "pipe.txt")
    with pytest.raises(UsageError, match="pipe"):
        Wildcards(folder).every("__pipe__")


def test_files_that_cannot_be_used(folder):
    found = write(folder, empty=["", "#"])
    (folder / "bytes.txt").write_bytes(b"\xff\xfe")
    (folder / "large.txt").write_bytes(b"a" * (4 << 20) + b"a")
    for name, words in (("empty", "no lines"), ("bytes", "UTF-8"), ("large", "larger"), ("none", "does not exist")):
        with pytest.raises(UsageError, match=words):
            found.every(f"__{name}__")


def test_circles_and_depth_end(folder):
    found = write(folder, a=["__b__"], b=["x __a__"], **{f"d{n}": [f"__d{n + 1}__"] for n in range(20)}, d20=["end"])
    with pytest.raises(UsageError, match="a > b > a"):
        found.every("__a__")
    with pytest.raises(UsageError, match="deep"):
        found.every("__d0__")
    assert found.every(f"__d{21 - DEEPEST}__") == ("end",)
    for name in ("a", "d0"):
        with pytest.raises(UsageError, match="deep"):
            found.drawn(f"__{name}__", 1)


def test_too_many_are_refused_before_they_are_made(folder):
    found = write(folder, many=map(str, range(MOST_PROMPTS)), bomb=["__bomb2__ __bomb2__"], bomb2=["{a|b}" * 14])
    assert len(found.every("__many__")) == MOST_PROMPTS
    for prompt in ("__many__ {a|b}", "__many__ __many__", "__bomb__", "{a|b}" * 40):
        with pytest.raises(UsageError, match="choices|at most"):
            found.every(prompt)
    assert found.drawn("__many__ {a|b}", 5) == found.drawn("__many__ {a|b}", 5)


def test_one_by_the_seed_is_the_same_everywhere(folder):
    """These words were drawn once; another Python, another machine or a later version must draw the same."""
    found = write(folder, animal=["cat", "dog", "{grey|white} owl"])
    drawn = [found.drawn("a {red|blue|green} __animal__", seed) for seed in range(8)]
    assert drawn == [found.drawn("a {red|blue|green} __animal__", seed) for seed in range(8)]
    assert set(drawn) <= set(found.every("a {red|blue|green} __animal__"))
    assert len(set(drawn)) > 3
    assert found.drawn("{a|b|c|d|e|f|g|h}{a|b|c|d|e|f|g|h}", 2026) == "ee"


@given(st.text(st.sampled_from("ab{|}\\ "), max_size=30), st.integers(0, 2**63))
def test_what_is_drawn_is_one_of_all(prompt, seed):
    try:
        every = alternatives(prompt)
    except UsageError:
        return
    assert Wildcards(None).drawn(prompt, seed) in every


@pytest.mark.parametrize("prompt", ["{" * 60_000, "|" * 60_000, "{|" * 30_000, "_" * 60_000, "__a/" * 15_000])
def test_prompts_made_to_take_long(folder, prompt):
    for ask in (Wildcards(folder).every, lambda text: Wildcards(folder).drawn(text, 1)):
        try:
            ask(prompt)
        except UsageError as error:
            assert len(str(error)) < 1000


def test_what_is_drawn_depends_on_the_seed_alone(tmp_path):
    (tmp_path / "animal.txt").write_text("cat\ndog\nowl\n")
    request = DrawRequest(prompt="a {red|blue} __animal__", wildcards=str(tmp_path), seeds=tuple(range(20)))
    found = drawn(request)
    assert found == drawn(request) and len(set(found)) > 3
    assert {one.split()[-1] for one in found} == {"cat", "dog", "owl"}
    with pytest.raises(UsageError, match="__fish__ has no readable file"):
        drawn(DrawRequest(prompt="__fish__", wildcards=str(tmp_path), seeds=(1,)))
    with pytest.raises(UsageError, match="1001 prompts of 1 characters are too many"):
        drawn(DrawRequest(prompt="a", wildcards="", seeds=(1,) * 1001))


def test_weighted_lines_globs_and_several_of_a_wildcard(folder):
    (folder / "colours").mkdir()
    write(folder / "colours", warm=["20::red", "orange"], cold=["blue", "a|b"])
    found = write(folder, other=["x"])
    assert found.every("__colours/*__") == ("blue", "a|b", "red", "orange")
    assert found.every("__**r*__") == ("red", "orange", "x")
    assert found.every("{2$$ & $$__colours/warm__}") == ("red & orange",)
    drawn = [found.drawn("__colours/warm__", seed) for seed in range(400)]
    assert 340 < drawn.count("red") < 400
    pairs = {found.drawn("{2$$ & $$__colours/cold__}", seed) for seed in range(20)}
    assert pairs == {"blue & a|b", "a|b & blue"}
    with pytest.raises(UsageError, match=r"no wildcard in .* has a name like __nothing\*__"):
        found.every("__nothing*__")


def test_what_is_drawn_by_weights_numbers_and_variables():
    found = Wildcards(None)
    drawn = [found.drawn("{0::never|9::often|1::seldom}", seed) for seed in range(60)]
    assert "never" not in drawn and drawn.count("often") > 40 and "seldom" in drawn
    several = {found.drawn("{1-2$$+$$a|b}", seed) for seed in range(40)}
    assert several == {"a", "b", "a+b", "b+a"}
    for seed in range(10):
        one, other = found.drawn("${x=!{red|blue|green}}${x} ${x}", seed).split()
        assert one == other


def test_whether_a_wildcard_was_named(folder):
    found = write(folder, a=["1"])
    found.drawn("no {x|y}", 1)
    assert not found.used
    found.drawn("__a__", 1)
    assert found.used


def test_nested_choices_are_drawn_in_linear_time():
    """At the square of the depth this would take minutes."""
    found = Wildcards(None)
    assert found.drawn("{" * 16_000 + "a" + "}" * 16_000, 1) == "{" * 16_000 + "a" + "}" * 16_000
    assert len(found.drawn("{" * 30_000 + "{a|b}" + "}" * 30_000, 1)) == 60_001
    with pytest.raises(UsageError, match="more than 1000 choices"):
        found.drawn("{a|" * 16_000 + "b" + "}" * 16_000, 1)
