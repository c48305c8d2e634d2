"""Texts in the window go through tr(), as literals that the translation tools can extract."""

import ast
import re

import pytest

SHOWS = {
    *("setText", "setToolTip", "setAccessibleName", "setAccessibleDescription", "setWindowTitle", "setTitle"),
    *("setPlaceholderText", "setSpecialValueText", "setStatusTip", "addTab", "addRow", "plain_label", "show_text"),
    *("QLabel", "QPushButton", "QCheckBox", "QRadioButton", "QAction", "QGroupBox"),
}
NO_WORDS = {"Mezzotint", "https://huggingface.co"}  # a name and a URL
_WORD = re.compile(r"[A-Za-z]{3}")


def calls(root):
    for path in sorted((root / "app" / "mezzotint_app").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                yield f"{path.name}:{node.lineno}", name_of(node), node


def name_of(node):
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def words_in(argument):
    """Return the literal texts, including those between the fields of an f-string."""
    found = argument.values if isinstance(argument, ast.JoinedStr) else [argument]
    texts = [one.value for one in found if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return [text for text in texts if _WORD.search(text) and text not in NO_WORDS]


def test_nothing_is_shown_that_cannot_be_translated(root):
    bare = [
        f"{where} {words}"
        for where, name, node in calls(root)
        if name in SHOWS
        for argument in node.args
        if (words := words_in(argument))
    ]
    assert bare == []


def test_what_is_translated_can_be_found(root):
    """lupdate extracts only literals."""
    unseen = [where for where, name, node in calls(root) if not isinstance(translated(name, node), ast.Constant)]
    assert unseen == []


def translated(name, node):
    """Return the text argument of a translating call."""
    if name == "tr" and node.args:
        return node.args[0]
    if name == "translate" and len(node.args) > 1 and isinstance(getattr(node.args[0], "value", None), str):
        return node.args[1]  # not for options, whose context is a variable: the engine declares their texts
    return ast.Constant("")  # str and QPainter have a translate() too


@pytest.mark.parametrize("source", ['label.setText("No words")', 'QLabel(f"{a} words")', 'show_text("a word")'])
def test_bare_words_are_seen(source):
    node = ast.parse(source).body[0].value
    assert name_of(node) in SHOWS and words_in(node.args[0])
