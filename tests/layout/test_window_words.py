"""Texts in the window can be translated: every literal goes through tr() or translate()."""

import ast
import re
from pathlib import Path

import pytest

# Their arguments are displayed or read by screen readers.
SHOWN_BY = {
    "setText", "setToolTip", "setStatusTip", "setWhatsThis", "setAccessibleName", "setAccessibleDescription",
    "setWindowTitle", "setPlaceholderText", "setInformativeText", "setDetailedText", "setSpecialValueText",
    "setPrefix", "setSuffix", "setTitle", "setNameFilters", "setNameFilter", "addTab", "addItem", "addItems",
    "addRow", "addAction", "addMenu", "addButton", "setTabText", "setItemText", "setHorizontalHeaderLabels",
    "show_text", "show_words", "show_state", "tell", "drawText", "question", "warning", "information", "critical",
    "getExistingDirectory", "getOpenFileName", "getOpenFileNames", "getSaveFileName", "getText",
    "QLabel", "QPushButton", "QToolButton", "QCheckBox", "QRadioButton", "QAction", "QMenu", "QGroupBox",
    "QListWidgetItem", "QTableWidgetItem", "QStandardItem", "plain_label", "plain_tooltip", "ElidedLabel",
    "Field", "Fold", "ChoiceBox", "PlainBox", "PathList", "DropHint", "confirm",
}  # fmt: skip
# Identical in every language.
KNOWN = {"Mezzotint", " px", " GB", "https://huggingface.co"}
# Internal names.
INNER = {"models table", "mask editor", "copy settings"}
# Two words, or a capitalized one: keys and icon names do not look like that.
WORDS = re.compile(r"[A-Za-z]{2,},? [a-z]{2,}|^[A-Z][a-z]{2,}$")
KEYS = re.compile(
    r"(?:(?:Ctrl|Alt|Shift|Meta)\+)*(?:F\d+|\w|Del|Delete|Esc|Return|Enter|Home|End|Backspace|Up|Down|Space|.)"
)
FILES = re.compile(r" ?\(\*")
TRANSLATED_BY = {"tr", "translate", "_translate"}


def _name(call):
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _literals(node):
    """Yield the string literals in an expression that are not translated."""
    if isinstance(node, ast.Call):
        if _name(node) in TRANSLATED_BY:
            return
        if isinstance(node.func, ast.Attribute):  # "...".format(), ", ".join()
            yield from _literals(node.func.value)
        return
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            yield node
        return
    if isinstance(node, ast.Subscript | ast.Attribute | ast.Compare | ast.Lambda):
        return
    for child in ast.iter_child_nodes(node):
        yield from _literals(child)


def _is_shown(text):
    return any(letter.isalpha() for letter in text) and text not in KNOWN and not FILES.match(text)


def untranslated(source):
    """Return the lines that display an untranslated text."""
    found = []
    for call in ast.walk(ast.parse(source)):
        if isinstance(call, ast.Call) and _name(call) in SHOWN_BY:
            for argument in call.args[:1] if _name(call) == "addItem" else call.args:  # the rest is data
                found += [(one.lineno, one.value) for one in _literals(argument) if _is_shown(one.value)]
    return found


def sentences(source):
    """Return the lines with text that is never translated, whether displayed or not."""
    tree = ast.parse(source)
    left_out = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _name(node) in TRANSLATED_BY:
            left_out |= {id(one) for one in ast.walk(node)}
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            left_out.add(id(node.value))  # a docstring
        elif isinstance(node, ast.Raise | ast.Assert):
            left_out |= {id(one) for one in ast.walk(node)}
    return [
        (node.lineno, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in left_out
        and node.value not in KNOWN | INNER
        and WORDS.search(node.value)
        and not KEYS.fullmatch(node.value)
    ]


def _faults(root, files, check, folders):
    return [
        f"{path}:{line}: {text!r}"
        for path in files
        if path.suffix == ".py" and any(path.is_relative_to(folder) for folder in folders)
        for line, text in check((root / path).read_text("utf-8"))
    ]


def test_what_is_shown_is_translated(root, files):
    assert _faults(root, files, untranslated, [Path("app")]) == []


def test_windows_hold_no_words_that_cannot_be_translated(root, files):
    folders = [Path("app/mezzotint_app") / name for name in ("windows", "widgets")]
    assert _faults(root, files, sentences, folders) == []


def test_no_plural_waits_for_a_translation_to_read_right(root, files):
    def plurals(source):
        return [(number, line) for number, line in enumerate(source.splitlines(), 1) if re.search(r"\w\(e?s\)", line)]

    assert _faults(root, files, plurals, [Path("app")]) == []


@pytest.mark.parametrize(
    "line",
    [
        'label.setText("Ready")',
        'button = QPushButton("Do it")',
        'button = QPushButton(icon("trash"), "Remove")',
        'label.setText(f"{count} images")',
        'label.setText("Ready" if ready else "")',
        'label.setToolTip("{n} left".format(n=3))',
        'tabs.addTab(page, "Images")',
        'label.setText("one" + self.tr("other"))',
        'return plain_label("Where", role="muted")',
    ],
)
def test_what_is_not_translated_is_found(line):
    assert len(untranslated(line if not line.startswith("return") else f"def f():\n    {line}")) == 1


@pytest.mark.parametrize(
    "line",
    [
        'label.setText(self.tr("Ready"))',
        'label.setText(QCoreApplication.translate("Models", "Ready"))',
        'label.setText(self.tr("{n} left").format(n=3))',
        'label.setText("")',
        'label.setText("×")',
        'label.setText(f"{name} ({keys})")',
        'button.setProperty("role", "primary")',
        'label.setText(names["one"])',
        'box.setSuffix(" px")',
    ],
)
def test_what_is_translated_or_no_words_is_not_found(line):
    assert untranslated(line) == []


def test_words_on_their_way_are_found():
    assert sentences('names = {"a": "Not yet there"}') == [(1, "Not yet there")]
    assert (
        sentences('"""A docstring of words."""\nkey = QKeySequence("Ctrl+Shift+Return")\nraise ValueError("so it is")')
        == []
    )
