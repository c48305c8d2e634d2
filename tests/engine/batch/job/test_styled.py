"""Styles apply under what options set, in requests and in jobs, and are recorded by name."""

from dataclasses import replace

import pytest

from mezzotint.batch.job.job import JobFile, JobOutput, Prompts
from mezzotint.batch.job.settings import request_of
from mezzotint.batch.job.styled import restyled, styled_request
from mezzotint.batch.job.writing import job_of
from mezzotint.batch.tasks.tasks import tasks_of
from mezzotint.errors import UsageError
from mezzotint.library.styles.store import save_style
from mezzotint.library_protocol import Style
from mezzotint.options import Options
from mezzotint.protocol import GenerateRequest, LoraRef


@pytest.fixture(autouse=True)
def styles(tmp_path, monkeypatch):
    monkeypatch.setenv("MEZZOTINT_CONFIG", str(tmp_path / "config"))
    save_style(
        Style(
            name="ink",
            prompt="ink of {prompt}, bold",
            negative="colour",
            settings={"steps": 30, "guidance": 4, "lora": ["/l/ink.safetensors:0.5"]},
        )
    )
    save_style(Style(name="fog", prompt="in fog", settings={"steps": 12}))


def sampling(request):
    return request.cascade.stages[0].sampling


def test_options_come_first_then_the_last_style():
    request = styled_request(Options(prompt="a boat", negative="blur", guidance=7.0, style=("ink", "Fog")))
    assert request.prompt == "ink of a boat, bold, in fog"
    assert request.negative_prompt == "blur, colour"
    assert (sampling(request).steps, sampling(request).guidance_scale) == (12, 7.0)
    assert request.styles == ("ink", "Fog")


def test_files_of_lists_are_added_and_one_in_both_counts_as_asked():
    more = (LoraRef(path="/l/b.safetensors"), LoraRef(path="/l/ink.safetensors", weight=0.9))
    assert styled_request(Options(prompt="x", style=("ink",), lora=more)).loras == more
    assert styled_request(Options(prompt="x", style=("ink",), lora=more[:1])).loras == (
        LoraRef(path="/l/ink.safetensors", weight=0.5),
        more[0],
    )


def test_on_top_of_an_image_the_prompt_of_either_is_surrounded():
    base = styled_request(Options(prompt="a boat", style=("fog",)))
    assert request_of(Options(), base) == base  # not applied twice
    assert styled_request(Options(style=("ink",)), base).prompt == "ink of a boat, in fog, bold"
    assert styled_request(Options(prompt="a tree"), base).styles == ()


def test_without_a_prompt_or_with_an_unknown_name_it_says_so():
    with pytest.raises(UsageError, match="no prompt given"):
        styled_request(Options(style=("ink",)))
    with pytest.raises(UsageError, match="no style inc"):
        styled_request(Options(prompt="x", style=("inc",)))


def test_the_window_takes_everything_but_texts():
    base = replace(request_of(Options(prompt="a boat", steps=9)), loras=(LoraRef(path="/l/b.safetensors"),))
    request = restyled(base, "ink")
    assert (request.prompt, request.negative_prompt, sampling(request).steps) == ("a boat", "", 30)
    assert [one.path for one in request.loras] == ["/l/b.safetensors", "/l/ink.safetensors"]


def tasks(tmp_path, **job):
    return list(tasks_of(JobFile(output=JobOutput(folder="out"), **job), base=tmp_path))


def test_a_job_surrounds_each_prompt(tmp_path):
    found = tasks(tmp_path, settings=Options(style=("ink",), steps=5), prompts=Prompts(list=("a {red|blue} boat",)))
    assert [one.request.prompt for one in found] == ["ink of a red boat, bold", "ink of a blue boat, bold"]
    assert all(one.request.styles == ("ink",) and sampling(one.request).steps == 5 for one in found)
    assert "red-boat" in found[0].output
    assert "ink" not in found[0].output


def test_styles_may_vary_in_a_matrix_and_a_changed_style_is_another_image(tmp_path):
    job = {"prompts": Prompts(list=("x",)), "matrix": (("style", ("ink", "fog")),)}
    before = tasks(tmp_path, **job)
    assert [one.request.prompt for one in before] == ["ink of x, bold", "x, in fog"]
    save_style(Style(name="fog", prompt="in dense fog", settings={"steps": 12}), replaces=True)
    after = tasks(tmp_path, **job)
    assert [one.key == other.key for one, other in zip(before, after, strict=True)] == [True, False]


def test_a_styled_request_is_still_written_as_options():
    job = job_of((styled_request(Options(prompt="a boat", style=("fog",))),))
    assert job.requests == ()
    assert job.prompts.list == ("a boat, in fog",)
    assert GenerateRequest(prompt="x").styles == ()
