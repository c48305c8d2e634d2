"""Constructs that no source may contain, and docstrings that every source must have."""

import ast
import re
from collections.abc import Iterator

import pytest

# These run code from a file, open what they should not, or trust untrusted data.
FORBIDDEN_CALLS = {
    "eval",
    "exec",
    "compile",
    "__import__",
    "os.system",
    "os.popen",
    "torch.load",
    "yaml.load",
    "yaml.full_load",
    "yaml.unsafe_load",
}
FORBIDDEN_MODULES = {
    "pickle",
    "cloudpickle",
    "dill",
    "joblib",
    "marshal",
    "shelve",
    "jinja2",
    "socket",
    "socketserver",
    "http.server",
}
ALLOWED = {
    # Upscalers in pickles, with weights_only, in a process of its own that does nothing else.
    ("engine/mezzotint/upscaling/pickled.py", "torch.load"),
    # A socket pair inside the process: on Windows Python can wake Qt's event loop in no other way.
    ("app/mezzotint_app/shutdown_signals.py", "socket"),
    # `mezzotint serve`, which nothing else imports: the only code that opens a port.
    ("engine/mezzotint/api_server/web/http_server.py", "socket"),
    # A package index on this machine, while an installation from it is checked.
    ("packaging/tests/wheel_check.py", "http.server"),
}
FORBIDDEN_UNLESS_FALSE = {"shell", "trust_remote_code", "allow_pickle"}
QTS_NAME = re.compile(r"[a-z]+[A-Z]")  # overrides of Qt's methods are documented by Qt
FORBIDDEN_METHODS = {"setHtml", "bind_and_activate"}


def test_no_source_holds_what_is_forbidden(sources):
    found = [
        f"{path}:{line}: {what}"
        for path, tree in sources.items()
        for line, what in forbidden(tree)
        if (path.as_posix(), what) not in ALLOWED
    ]
    assert found == []


@pytest.mark.parametrize(
    "code",
    [
        "import pickle",
        "from pickle import loads",
        "import http.server",
        "from http import server",
        "def f():\n    import socket",
        "eval('1')",
        "exec(text)",
        "torch.load(path)",
        "torch.load(path, weights_only=True)",
        "yaml.load(text, Loader=Loader)",
        "subprocess.run(line, shell=True)",
        "Model.from_pretrained(path, trust_remote_code=ask())",
        "numpy.load(path, allow_pickle=True)",
        "Image.MAX_IMAGE_PIXELS = None",
        "ImageFile.LOAD_TRUNCATED_IMAGES = True",
        "label.setHtml(prompt)",
    ],
)
def test_the_search_finds_each(code):
    assert list(forbidden(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        "model.eval()",
        "re.compile('x')",
        "subprocess.run(words, shell=False)",
        "Image.MAX_IMAGE_PIXELS = 100",
        "yaml.safe_load(text)",
        "'eval(x) and pickle.load are not for us'",
    ],
)
def test_the_search_finds_nothing_else(code):
    assert not list(forbidden(ast.parse(code)))


def test_every_module_and_public_name_says_what_it_is(sources):
    missing = [
        f"{path}:{getattr(node, 'lineno', 1)}: {getattr(node, 'name', 'the module')}"
        for path, tree in sources.items()
        for node in _public(tree)
        if not ast.get_docstring(node) and not QTS_NAME.match(getattr(node, "name", ""))
    ]
    assert missing == []


def forbidden(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line and name of each forbidden construct."""
    for node in ast.walk(tree):
        for name in _forbidden_at(node):
            yield getattr(node, "lineno", 1), name


def _forbidden_at(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if _is_forbidden_module(alias.name))
    elif isinstance(node, ast.ImportFrom):
        names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
        yield from filter(_is_forbidden_module, names)
    elif isinstance(node, ast.Call):
        yield from _forbidden_in_call(node)
    elif isinstance(node, ast.Assign) and getattr(node.value, "value", 0) is None:
        yield from (name for name in map(_last_name, node.targets) if name == "MAX_IMAGE_PIXELS")
    if _last_name(node) == "LOAD_TRUNCATED_IMAGES":
        yield "LOAD_TRUNCATED_IMAGES"


def _forbidden_in_call(node: ast.Call) -> Iterator[str]:
    name = ast.unparse(node.func)
    if name in FORBIDDEN_CALLS or _last_name(node.func) in FORBIDDEN_METHODS:
        yield name
    for keyword in node.keywords:
        if keyword.arg in FORBIDDEN_UNLESS_FALSE and getattr(keyword.value, "value", None) is not False:
            yield f"{name}({keyword.arg}=...)"


def _is_forbidden_module(name: str) -> bool:
    return name in FORBIDDEN_MODULES or name.split(".")[0] in FORBIDDEN_MODULES


def _last_name(node: ast.AST) -> str | None:
    return getattr(node, "attr", None) or getattr(node, "id", None)


def _public(tree: ast.Module) -> Iterator[ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield the module, its public functions and classes, and their public methods."""
    yield tree
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                yield from (
                    method
                    for method in node.body
                    if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef) and not method.name.startswith("_")
                )
