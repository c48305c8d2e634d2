"""Every failure of the bootstrap has a next step, and words in other languages."""

import re
from pathlib import Path

import pytest
from PySide6.QtCore import QLocale

from mezzotint_app.viewmodel.engine_setup.facts import Trouble
from mezzotint_app.viewmodel.engine_setup.troubles import trouble_text

_README = Path(__file__).parents[4] / "packaging" / "setup" / "README.md"
CODES = re.findall(r"`(\w+)`", re.search(r"^Codes:(.*?)\n\n", _README.read_text("utf-8"), re.M | re.S)[1])


@pytest.fixture
def german():
    before = QLocale()
    QLocale.setDefault(QLocale(QLocale.Language.German))
    yield
    QLocale.setDefault(before)


@pytest.mark.parametrize("code", CODES)
def test_each_code_says_what_to_do(code):
    text = trouble_text(Trouble(code=code, what="it broke", next=""))
    assert text.startswith("It broke. ") == (code != "nothing_installed")
    assert trouble_text(Trouble(code="newer", what="it broke", next="ask")) == "It broke. ask"


@pytest.mark.parametrize("code", CODES)
def test_in_another_language_the_words_of_the_bootstrap_are_a_detail(german, code):
    text = trouble_text(Trouble(code=code, what="it broke", next=""))
    assert ("(it broke). " in text) == (code != "nothing_installed")
