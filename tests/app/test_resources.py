"""Icons are drawn in the theme's colours, sharp, and every one that is asked for is there."""

import ast
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QIcon

import mezzotint_app
from mezzotint_app import resources, theme


@pytest.fixture(params=["light", "dark"])
def themed(qapp, request):
    theme.apply(qapp, request.param)
    return request.param


@pytest.mark.parametrize("name", resources.names())
def test_a_drawing_is_simple_and_our_own_kind(name):
    text = (resources.icons_folder() / f"{name}.svg").read_text("utf-8")
    tags = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(text).iter()}
    drawn = {"svg", "path", "circle", "rect", "g", "line", "polyline", "ellipse", "polygon"}
    assert tags <= drawn | {"defs", "linearGradient", "stop", "clipPath"}
    assert "currentColor" in text or name == "mezzotint"


def solid_colours(image):
    points = [image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height())]
    return {point.rgb() for point in points if point.alpha() == 255}


def test_an_icon_has_the_colour_of_the_text(themed):
    image = resources.icon("stop").pixmap(QSize(64, 64)).toImage()
    assert solid_colours(image) == {theme.colour("text").rgb()}


def test_a_disabled_icon_is_paler(themed):
    usual = resources.icon("stop").pixmap(QSize(32, 32)).toImage()
    disabled = resources.icon("stop").pixmap(QSize(32, 32), QIcon.Mode.Disabled).toImage()
    assert usual != disabled


def test_an_icon_follows_the_theme(qapp):
    theme.apply(qapp, "light")
    icon = resources.icon("stop")
    light = icon.pixmap(QSize(32, 32)).toImage()
    theme.apply(qapp, "dark")
    assert icon.pixmap(QSize(32, 32)).toImage() != light


def test_an_icon_in_a_named_colour(themed):
    image = resources.icon_in("stop", "danger").pixmap(QSize(64, 64)).toImage()
    assert solid_colours(image) == {QColor(theme.colour("danger")).rgb()}


def test_every_icon_that_the_window_names_is_there():
    known = set(resources.names())
    asked = set()
    for path in Path(mezzotint_app.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and re.fullmatch(r"icon|icon_in|icon_button", getattr(node.func, "id", "")):
                first = node.args[0] if node.args else None
                if isinstance(first, ast.Constant):
                    asked.add(first.value)
    assert asked
    assert asked <= known
