"""Whose token goes where."""

import pytest

from mezzotint.library.downloads.net import headers, token_for

HUB, MIRROR = "https://huggingface.co", "https://mirror.example"


@pytest.fixture
def login(monkeypatch):
    import huggingface_hub

    monkeypatch.setattr(huggingface_hub, "get_token", lambda: "login")


@pytest.mark.parametrize(
    ("endpoint", "given", "environment", "environ", "expected"),
    [
        (HUB, None, True, {}, "login"),
        (HUB, "given", True, {}, "given"),
        (MIRROR, None, True, {}, None),
        (MIRROR, None, True, {"HF_TOKEN": "variable"}, "variable"),
        (MIRROR, None, False, {"HF_TOKEN": "variable"}, None),
        (MIRROR, "given", False, {"HF_TOKEN": "variable"}, "given"),
        ("https://huggingface.co.evil.example", None, False, {"HF_TOKEN": "variable"}, None),
    ],
)
def test_a_token_goes_to_the_one_it_is_for(login, endpoint, given, environment, environ, expected):
    assert token_for(endpoint, given, environment=environment, environ=environ) == expected


def test_without_a_token_none_is_sent():
    assert "Authorization" not in headers(None)
    assert headers("t")["Authorization"] == "Bearer t"
