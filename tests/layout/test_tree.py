"""Location, names and sizes of files."""

import re
from collections import Counter

MIRRORED = {
    "engine": "engine/mezzotint",
    "app": "app/mezzotint_app",
    "bench": "bench",
    "kernels": "kernels",
    "starter": "starter/mezzotint_starter",
    "packaging": "packaging",
}
PACKAGES = {"packaging/setup": "packaging/setup/mezzotint_setup"}
CODE = {".py", ".cu", ".cuh", ".h", ".cpp"}
EMPTY_NAMES = {"util", "utils", "helper", "helpers", "misc", "common"}
MEGABYTE = 2**20
# Split so that this file does not match itself.
UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|X" + r"XX)\b|raise NotImplemented" + "Error")


def test_the_roots_are_no_packages(root):
    # A package called kernels would shadow one that diffusers imports.
    for folder in ("app", "engine", "kernels", "starter", "tests"):
        assert not (root / folder / "__init__.py").exists(), f"{folder}/ holds packages and is none"


def test_no_package_among_the_tests(files):
    assert [str(path) for path in files if path.parts[0] == "tests" and path.name == "__init__.py"] == []


def test_names_say_what_a_file_is_about(files):
    assert [str(p) for p in files if p.suffix in CODE and {p.stem, *p.parts[:-1]} & EMPTY_NAMES] == []


def test_no_file_is_longer_than_500_lines(root, files):
    lengths = {str(p): (root / p).read_text("utf-8").count("\n") for p in files if p.suffix in CODE}
    assert {name: lines for name, lines in lengths.items() if lines > 500} == {}


def test_no_folder_holds_more_than_25_source_files(files):
    sources = Counter(
        p.parent for p in files if p.suffix in CODE and p.parts[0] in ("engine", "app", "starter", "bench", "packaging")
    )
    assert {str(folder): count for folder, count in sources.items() if count > 25} == {}


def test_nothing_is_left_unfinished(root, files):
    found = [
        f"{path}:{number}: {line.strip()}"
        for path in files
        if path.suffix in CODE or path.name == "Makefile"
        for number, line in enumerate((root / path).read_text("utf-8").splitlines(), 1)
        if UNFINISHED.search(line)
    ]
    assert found == []


def test_tests_mirror_the_sources(root, files):
    orphans = [
        str(path)
        for path in files
        if path.match("test_*.py") and path.parts[1] in MIRRORED and not _has_source(root, path)
    ]
    assert orphans == [], "no source of that name: test_x.py or test_x_topic.py belongs to x.py or x/"


def test_the_tree_stays_small_enough_to_clone_at_once(root, files):
    sizes = {path: (root / path).stat().st_size for path in files}
    assert sum(sizes.values()) < 42 * MEGABYTE
    assert sum(size for path, size in sizes.items() if path.match("assets/**/*.safetensors")) < 24 * MEGABYTE


def _has_source(root, test):
    """Whether test_x_y.py has a source x_y.py or x.py, or a package of that name, in the folder it mirrors."""
    folder = root.joinpath(MIRRORED[test.parts[1]], *test.parts[2:-1])
    folder = root / PACKAGES.get(folder.relative_to(root).as_posix(), folder)
    words = test.stem.removeprefix("test_").split("_")
    names = ["_".join(words[:count]) for count in range(len(words), 0, -1)]
    return any((folder / f"{name}.py").is_file() or (folder / name).is_dir() for name in names)
