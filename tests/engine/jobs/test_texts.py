"""Texts that a database would not take."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.jobs.texts import decode_text, encode_text, readable

ANY = st.text(st.characters(exclude_categories=())) | st.just('json:"x"') | st.just("/a\udcff")


@given(ANY)
def test_what_is_kept_is_had_again(text):
    assert decode_text(encode_text(text)) == text
    with sqlite3.connect(":memory:") as connection:
        assert connection.execute("SELECT ?", (encode_text(text),)).fetchone() == (encode_text(text),)


@given(ANY)
def test_what_a_person_reads_can_be_written_anywhere(text):
    readable(text).encode("utf-8")


@pytest.mark.parametrize("text", ["", "a barn", "/home/ü/1.png", "\0"])
def test_plain_text_stays_plain(text):
    assert encode_text(text) == readable(text) == text
