"""Models found on the hub by name; whatever it answers is bounded."""

import json

import pytest
from fetched_here import children, fetched_here  # noqa: F401

from mezzotint.errors import DownloadFailed, UsageError
from mezzotint.library.downloads import search as network
from mezzotint.library.hub_search import search_hub
from mezzotint.protocol import HubModel, HubSearch


def entry(name, *tags, **more):
    return {"id": name, "tags": list(tags), "downloads": 1, "gated": False, **more}


@pytest.fixture
def search(model_server):
    def call(words="turbo", **answers):
        model_server.searches = {
            kind.replace("_", "-"): answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            for kind, answer in answers.items()
        }
        return search_hub(HubSearch(words=words, endpoint=model_server.url), lambda: False)

    return call


def test_what_is_told_of_a_model(search, model_server):
    sdxl = entry(
        "a/one", "diffusers:StableDiffusionXLPipeline", "license:openrail++", downloads=7, usedStorage=9, gated="auto"
    )
    assert search(text_to_image=[sdxl], image_to_image=[sdxl]) == (
        HubModel(id="a/one", family="sdxl", runs=True, licence="openrail++", downloads=7, bytes=9, gated=True),
    )
    kinds = [asked["filter"] for asked in model_server.searched]
    assert kinds == [["text-to-image"], ["image-to-image"], ["diffusion-single-file"]]
    assert all(asked["search"] == ["turbo"] and asked["limit"] == ["20"] for asked in model_server.searched)
    assert {asked.token for asked in model_server.asked} == {None}


def test_families_of_pipelines_and_base_models_and_those_that_do_not_run_last(search):
    found = search(
        text_to_image=[
            entry("a/video", "diffusers:WanPipeline", downloads=9),
            entry("a/flux", "diffusers:FluxPipeline", downloads=3),
            entry("a/made", "base_model:finetune:Qwen/Qwen-Image", downloads=5),
            entry("Qwen/Qwen-Image", downloads=4),
            entry("a/unknown"),
        ]
    )
    assert [(one.id.partition("/")[2], one.family, one.runs) for one in found] == [
        ("made", "qwen-image", None),
        ("Qwen-Image", "qwen-image", None),
        ("flux", "flux", True),
        ("unknown", "", None),
        ("video", "", False),
    ]


def test_adapters_odd_names_and_odd_values_are_left_out(search):
    found = search(
        text_to_image=[
            entry("a/lora", "lora"),
            entry("a/adapter", "base_model:adapter:x/y"),
            *(entry(name) for name in ("", "plain", "../up", "a/..", "a/b/c", "a/con", "a/x\n", "a/<b>", "a" * 300)),
            {"id": 5},
            {"tags": []},
            "text",
            entry("a/odd", downloads=-1, usedStorage="big") | {"tags": {"license": 1}},
            entry("a/long", "license:" + "x" * 9999, "license:a\x1b[2J", 7, downloads=True),
        ]
    )
    assert [one.id for one in found] == ["a/long", "a/odd"]
    assert {(one.downloads, one.bytes) for one in found} == {(None, None)}
    assert found[0].licence.isprintable() and found[1].licence == "not stated"


def test_more_than_was_asked_for(search):
    assert len(search(text_to_image=[entry(f"a/{number}") for number in range(500)])) == 20


@pytest.mark.parametrize("answer", [b"", b"<html>", b"{}", b"[" * 100_000, b'["\xff"]', b"[1e999]"])
def test_answers_of_something_else(search, answer):
    with pytest.raises(DownloadFailed, match="does not answer searches as the hub does"):
        search(text_to_image=answer)


def test_huge_answers_are_not_read_to_their_end(search, model_server, monkeypatch):
    monkeypatch.setattr(network, "MAX_ANSWER", 2**16)
    with pytest.raises(DownloadFailed, match="too much"):
        search(text_to_image=b"[" + b" " * 2**20)
    assert len(model_server.searched) == 1


def test_a_hub_that_refuses_or_is_not_there(search, model_server):
    with pytest.raises(DownloadFailed, match="the search"):
        search_hub(HubSearch(words="x", endpoint=model_server.url + "/other"), lambda: False)
    with pytest.raises(UsageError, match="https"):
        search_hub(HubSearch(words="x", endpoint="http://example.org"), lambda: False)


@pytest.mark.parametrize("words", ["", "  ", "x" * 101])
def test_words_that_are_none_or_too_many(search, words):
    with pytest.raises(UsageError, match="1 to 100 characters"):
        search(words)


def test_a_process_of_its_own_asks(search, children):  # noqa: F811
    assert search(text_to_image=[entry("a/b")])[0].id == "a/b"
