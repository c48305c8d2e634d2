"""Other programs' syntax that is read as text is told."""

import pytest

from mezzotint.families.text.foreign_syntax import embedding_names, embedding_notices, read_as_text


@pytest.mark.parametrize(
    ("prompt", "found"),
    [
        ("a castle AND a moat :0.4", "AND"),
        ("sky ADDROW sea", "ADDROW"),
        ("<hypernet:ink:0.5> fox", "<hypernet:ink:0.5>"),
        ("a {tall|small} tree", "{tall|"),
        ("a {2$$x} tree", "{2$$"),
        ("${hue=red} tree", "${hue="),
        ("a __trees/oak__", "__trees/oak__"),
        ("(fox)++ in snow", ")++"),
        ('("oak", "fir").blend(1, 1)', ".blend("),
        ("1.5::fox::, snow", "1.5::f"),
        ("a fox --ar 16:9", "--ar"),
    ],
)
def test_each_kind_is_told_with_what_was_found(prompt, found):
    (line,) = read_as_text(["plain", prompt])
    assert line.startswith(f"{found} in a prompt is read as text: ")


@pytest.mark.parametrize(
    "prompt",
    ["sand and sea", "BRAND new", r"\{a|b\}", "<lora:x:1>", "snake_case__x", "(fox:1.2) [snow] (c) 2024", "12:30, 4k"],
)
def test_plain_prompts_are_not(prompt):
    assert list(read_as_text([prompt])) == []


def test_embeddings_that_are_named_or_given_in_vain():
    assert embedding_names("embedding:neg\\easy.pt, (embedding:v1.5:1.2) a embedding:") == ["easy", "v1.5"]
    lines = list(
        embedding_notices(["fox embedding:Easy", "embedding:lost.safetensors"], ["easy", "ink style", "drawn"])
    )
    assert [line.split(":")[0] for line in lines] == [
        "embedding",
        "the embedding ink style is not used",
        "the embedding drawn is not used",
    ]
    assert "embedding:lost in a prompt is read as text" in lines[0]
    assert list(embedding_notices(["in INK STYLE."], ["ink style"])) == []


@pytest.mark.parametrize(
    "text", ["{" * 30_000, "_" * 30_000, "<a:" * 10_000, "1" * 30_000, ")" * 30_000, "embedding:" * 3000]
)
def test_prompts_made_to_take_long(text):
    list(read_as_text([text]))
    list(embedding_notices([text], ["word"]))
