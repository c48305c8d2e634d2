"""The catalogues hold every text of the window, translated, and are compiled as they are written."""

import ast
import re
import shutil
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from mezzotint_app.language import LANGUAGES, SOURCE, catalogues

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import translations  # noqa: E402

OTHERS = sorted(set(LANGUAGES) - {SOURCE})
FIELD = re.compile(r"\{[^}]*\}|%L?n|%L?\d|<[^>]+>|https?://\S+")
NUMBER = re.compile(r"%L?n$")
TOOLS = pytest.mark.skipif(
    not all(translations.tool(name) for name in ("pyside6-lupdate", "pyside6-lrelease")),
    reason="lupdate and lrelease are not there: pip install PySide6-Essentials",
)


def catalogue(language):
    return catalogues() / f"mezzotint_{language}.ts"


def messages(language):
    """Context, text, and its forms in the language; one, or as many as the language has for numbers."""
    for context in ElementTree.parse(catalogue(language)).iter("context"):
        for message in context.iter("message"):
            translation = message.find("translation")
            forms = [form.text or "" for form in translation.iter("numerusform")]
            yield context.findtext("name"), message.findtext("source"), forms or [translation.text or ""]


def calls(source):
    """Contexts, texts and whether there is a number, of every call that translates."""

    def walk(node, context):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Call):
                yield from found(child, context)
            yield from walk(child, child.name if isinstance(child, ast.ClassDef) else context)

    def found(call, context):
        owner, _, name = ast.unparse(call.func).rpartition(".")
        words = [one.value if isinstance(one, ast.Constant) else ast.unparse(one) for one in call.args]
        if name == "tr":
            yield context if owner == "self" else owner, words[0], len(words) > 2
        elif name == "translate" and owner in ("", "QCoreApplication", "QApplication"):
            yield words[0], words[1], len(words) > 3

    return set(walk(ast.parse(source), ""))


@pytest.mark.parametrize("language", OTHERS)
def test_every_call_stands_in_the_catalogue(language):
    """Lupdate passes over what it does not understand; `make translations` adds what is missing."""
    known = {(context, text, len(forms) > 1) for context, text, forms in messages(language)}
    passed_on = ("plurals.py", "option_texts.py")  # what others hold
    sources = [path for path in translations.sources() if path.name not in passed_on]
    called = set().union(*(calls(path.read_text("utf-8")) for path in sources))
    assert called == known


def test_no_class_with_plurals_is_derived_from():
    """Qt for Python looks for the text in the context of the derived class, and takes the filled in number for it."""
    bases, owners = set(), set()
    for path in translations.sources():
        source = path.read_text("utf-8")
        classes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef)]
        bases |= {re.split(r"[\[.]", ast.unparse(base))[0] for one in classes for base in one.bases}
        owners |= {context for context, _text, has_number in calls(source) if has_number}
    assert "Plurals" in bases
    assert owners & bases == set()


@TOOLS
@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_a_catalogue_is_as_make_translations_writes_it(language, tmp_path):
    copy = tmp_path / catalogue(language).name
    shutil.copy(catalogue(language), copy)
    translations.update(copy)
    assert copy.read_text("utf-8") == catalogue(language).read_text("utf-8")


@TOOLS
@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_a_catalogue_is_compiled(language, tmp_path):
    translations.compile_catalogue(catalogue(language), tmp_path / "compiled")
    assert (tmp_path / "compiled").read_bytes() == catalogue(language).with_suffix(".qm.xz").read_bytes()


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_nothing_is_left_untranslated(language):
    assert translations.untranslated(catalogue(language)) == []
    assert [text for _context, text, forms in messages(language) if not all(forms)] == []


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_what_is_filled_in_is_the_same(language):
    """The form for one thing may do without its number."""
    faults = []
    for context, text, forms in messages(language):
        for form in forms:
            wanted, found = sorted(FIELD.findall(text)), sorted(FIELD.findall(form))
            if found != wanted and (len(forms) == 1 or found != [one for one in wanted if not NUMBER.match(one)]):
                faults.append((context, text, form))
    assert faults == []


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_texts_begin_and_end_alike(language):
    """What the code puts before or after them fits."""
    ends = re.compile(r"^(\s*).*?([.…:?!]?\s*)$", re.DOTALL)
    faults = [
        (context, text, form)
        for context, text, forms in messages(language)
        for form in forms
        if ends.match(text).groups() != ends.match(form).groups()
    ]
    assert faults == []
