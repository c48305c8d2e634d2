"""pyproject.toml, constraints.txt, the Makefile and the documents agree with each other."""

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

TARGETS = {
    "run",
    "generate",
    "app",
    "test",
    "check",
    "fix",
    "starter",
    "kernels",
    "bench",
    "gpu-check",
    "screenshots",
    "package",
    "package-check",
    "clean",
    "help",
}
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "kernels/README.md", "packaging/README.md"]


@pytest.fixture(scope="module")
def project(root):
    return tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]


@pytest.fixture(scope="module")
def makefile(root):
    return (root / "Makefile").read_text("utf-8")


def test_every_direct_dependency_is_pinned_to_a_version_it_allows(root, project):
    lines = (root / "constraints.txt").read_text("utf-8").splitlines()
    pins = [Requirement(line) for line in lines if line and not line.startswith("#")]
    versions = {canonicalize_name(pin.name): re.fullmatch(r"==(\S+)", str(pin.specifier)) for pin in pins}
    assert all(versions.values()), "constraints are exact versions"
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    for wanted in (Requirement(line) for group in groups for line in group):
        pinned = versions.get(canonicalize_name(wanted.name))
        assert pinned, f"{wanted.name} has no version in constraints.txt"
        assert wanted.specifier.contains(pinned[1]), f"constraints.txt pins {wanted.name} {pinned[1]}, against {wanted}"


def test_nothing_advises_to_install_a_name_that_nobody_has_claimed(root, files):
    advice = re.compile(r"install[^\n]{0,40}[ '\"]mezzotint[-_]kernels\b")
    texts = {path: (root / path).read_text("utf-8") for path in files if path.suffix in {".py", ".md", ".toml", ".ts"}}
    assert [str(path) for path, text in texts.items() if advice.search(text) and path.name != "test_settings.py"] == []


def test_every_command_is_in_the_makefile_and_says_what_it_does(makefile):
    described = set(re.findall(r"^([a-z-]+):.*## \S", makefile, re.MULTILINE))
    phony = set(re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)[1].split())
    assert described >= TARGETS
    assert described == phony


def test_extras_of_the_makefile_exist(makefile, project):
    sets = dict(re.findall(r"^\$\(INSTALLED\)/(\w+): SETS :=(.*)$", makefile, re.MULTILINE))
    assert all(name in words.split() for name, words in sets.items() if name not in {"base", "all"})
    others = {"upscale"}  # whose torchvision has no package for every torch: tests get spandrel alone
    assert set(sets["all"].split()) == set(project["optional-dependencies"]) - others


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_name_only_what_exists(root, makefile, name):
    text = (root / name).read_text("utf-8")
    targets = set(re.findall(r"`make ([a-z-]+)", text)) | set(re.findall(r"^make ([a-z-]+)", text, re.MULTILINE))
    assert targets <= set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if not re.match(r"[a-z]+:", link)]
    folder = (root / name).parent
    assert [link for link in links if not (folder / link).exists()] == []
