"""The language that does not exist: longer, accented, and with the same fields."""

import re

from hypothesis import given
from hypothesis import strategies as st
from skip_rules import skip_module_without

skip_module_without("PySide6")

FIELD = re.compile(r"\{[^}]*\}|%L?n")
SENTENCES = st.text(st.sampled_from("aeiou bcs.{}n%L"), min_size=1, max_size=60)


@given(SENTENCES)
def test_every_string_is_longer_and_keeps_its_fields(sentence):
    from pathlib import Path

    longer = _longer(Path(__file__).parents[2] / "bench" / "longer_words.py")
    made = longer(sentence)
    assert len(made) >= 1.4 * len(sentence) - 1
    assert FIELD.findall(made) == FIELD.findall(sentence)


def _longer(path, kept={}):  # noqa: B006  loaded once
    import importlib.util

    if not kept:
        spec = importlib.util.spec_from_file_location("longer_words", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        kept["longer"] = module.longer
    return kept["longer"]


def test_a_translator_of_it_changes_what_widgets_say(qapp, script):
    words = script.install(qapp)
    try:
        assert qapp.translate("Navigation", "Queue").startswith("Qüéüé")
        assert qapp.translate("Navigation", "") == ""
        assert not words.isEmpty()
    finally:
        qapp.removeTranslator(words)
