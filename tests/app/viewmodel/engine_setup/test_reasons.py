"""Every reason of the bootstrap has its words in the window."""

import re
from pathlib import Path

import pytest
from fake_setup import LOOK

from mezzotint_app.viewmodel.engine_setup.facts import Facts, read
from mezzotint_app.viewmodel.engine_setup.reasons import advice_text, why_text

pytestmark = pytest.mark.requires_package("PySide6")

_LOOK = Path(__file__).parents[4] / "packaging" / "setup" / "mezzotint_setup" / "look.py"
CODES = re.findall(r'reason(?:, why)? ?= ?"(\w+)"', _LOOK.read_text("utf-8"))


def facts(code="nvidia", lacks=None, **changed):
    return read(Facts, {**LOOK, "reason": {"code": code, "card": "A card", "lacks": lacks}, "why": "old", **changed})


@pytest.mark.parametrize("code", CODES)
def test_each_reason_has_its_words(code):
    assert len(CODES) == 11
    text = why_text(facts(code))
    assert text != "Old." and text.endswith(".") and "{" not in text


def test_values_are_those_of_the_card():
    assert why_text(facts("card_old")) == "A card (compute capability 8.6) is older than CUDA 13."
    assert why_text(facts("nvidia")) == "A card with driver 580.1."
    assert why_text(facts(lacks="cu130")).endswith("no build of this kind for this system: NVIDIA, CUDA 13.")
    assert "no NVIDIA driver" in why_text(facts("driver_missing", gpus=[]))


def test_what_this_version_does_not_know_is_shown_as_it_was_told():
    assert why_text(read(Facts, {**LOOK, "why": "it is new"})) == "It is new."
    assert why_text(facts("newer")) == "Old."
    advice = {"code": "newer", "what": "it is slow", "next": "wait"}
    assert advice_text(facts(advice=advice)) == "It is slow: wait."
    assert advice_text(read(Facts, {**LOOK, "advice": {**advice, "code": "driver_old"}})) == "It is slow: wait."
    assert advice_text(facts()) == ""


@pytest.mark.parametrize("code", ["driver_missing", "driver_old"])
def test_advice_says_what_to_do(code):
    text = advice_text(facts(code, advice={"code": code, "what": "w", "next": "n"}, backend="cu126"))
    assert "install the newest one" in text and ("A card" in text or "580.1" in text)
