"""What a person reads in the window goes through tr(), as words that can be found and translated."""

import ast
import re

import pytest

SHOWS = {
    *("setText", "setToolTip", "setAccessibleName", "setAccessibleDescription", "setWindowTitle", "setTitle"),
    *("setPlaceholderText", "setSpecialValueText", "setStatusTip", "addTab", "addRow", "plain_label", "show_text"),
    *("QLabel", "QPushButton", "QCheckBox", "QRadioButton", "QAction", "QGroupBox"),
}
NO_WORDS = {"Mezzotint", "https://huggingface.co"}  # a name and an address
_WORD = re.compile(r"[A-Za-z]{3}")


def calls(root):
    for path in sorted((root / "app" / "mezzotint_app").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                yield f"{path.name}:{node.lineno}", name_of(node), node


def name_of(node):
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def words_in(argument):
    """What stands there as it is, also between the fields of an f-string."""
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
    """The tools that gather words see literals alone."""
    unseen = [where for where, name, node in calls(root) if not isinstance(translated(name, node), ast.Constant)]
    assert unseen == []


def translated(name, node):
    """The words of a call that translates."""
    if name == "tr" and node.args:
        return node.args[0]
    if name == "translate" and len(node.args) > 1 and isinstance(getattr(node.args[0], "value", None), str):
        return node.args[1]  # not of options, whose context is a name: the engine declares those
    return ast.Constant("")  # str and painters translate, too


@pytest.mark.parametrize("source", ['label.setText("No words")', 'QLabel(f"{a} words")', 'show_text("a word")'])
def test_bare_words_are_seen(source):
    node = ast.parse(source).body[0].value
    assert name_of(node) in SHOWS and words_in(node.args[0])
