"""`mezzotint models search`: a table of what the hub finds."""

import json

import pytest
from fetched_here import children, fetched_here
from model_server import model_server

from mezzotint.cli import main

__all__ = ["children", "fetched_here", "model_server"]


@pytest.fixture
def call(capsys, monkeypatch, model_server):
    monkeypatch.setenv("HF_ENDPOINT", model_server.url)

    def run(*words):
        assert main(["models", "search", *words]) == 0
        return capsys.readouterr()

    return run


def test_a_table_or_json(call, model_server):
    tags = ["diffusers:FluxPipeline", "license:apache-2.0"]
    found = [
        {"id": "a/b", "tags": tags, "downloads": 1234, "usedStorage": 3 << 30},
        {"id": "c/d", "tags": ["diffusers:WanPipeline"], "gated": "manual"},
    ]
    model_server.searches["text-to-image"] = json.dumps(found).encode()
    header, one, other = call("flux").out.splitlines()
    assert header.split() == ["ID", "FAMILY", "LICENCE", "DOWNLOADS", "REPOSITORY"]
    assert one.split("  ")[0] == "a/b" and "1,234" in one and "3.0 GB" in one
    assert "not supported" in other and "not stated; gated" in other
    assert [model["id"] for model in json.loads(call("flux", "--json").out)["models"]] == ["a/b", "c/d"]


def test_nothing_found(call):
    said = call("nonsense")
    assert said.out == "" and "fewer words" in said.err
