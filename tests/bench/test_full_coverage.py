"""What was not run in a held module is named with its line; what could be held, too, is told."""

import json

import pytest


def covered(lines=(), branches=(), statements=9):
    return {"summary": {"num_statements": statements}, "missing_lines": list(lines), "missing_branches": list(branches)}


@pytest.fixture
def tree(tmp_path):
    """Sources and tests, empty."""
    for name in ("engine/p/a/one.py", "engine/p/a/deep/two.py", "engine/p/codec.py", "engine/p/b/store.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    for name in ("a/test_one.py", "test_codec.py", "test_codecs.py", "b/test_store.py", "b/test_store_scale.py"):
        (tmp_path / "tests/engine" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tests/engine" / name).touch()
    return tmp_path


def test_the_list_names_folders_and_modules_with_their_tests(script, tree):
    folder, codec, store = script.entries("# held\nengine/p/a/\n\nengine/p/codec.py\nengine/p/b/store.py tests/x.py\n")
    assert folder.modules(tree) == ["engine/p/a/deep/two.py", "engine/p/a/one.py"]
    assert folder.tests(tree) == [str(tree / "tests/engine/a")]
    assert codec.modules(tree) == ["engine/p/codec.py"]
    assert codec.tests(tree) == [str(tree / "tests/engine/test_codec.py")]
    names = ("tests/engine/b/test_store.py", "tests/engine/b/test_store_scale.py", "tests/x.py")
    assert store.tests(tree) == [str(tree / name) for name in names]


def test_gaps_are_named_with_file_and_line(script):
    files = {"a.py": covered([3, 4], [[3, 5], [7, 9], [8, -1]]), "b.py": covered()}
    assert list(script.gaps(files, ["a.py", "b.py", "c.py"])) == [
        "a.py:3: is not run",
        "a.py:4: is not run",
        "a.py:7: never goes on to line 9",
        "a.py:8: never goes on to the end",
        "c.py: no test imports it",
    ]


def test_what_could_be_held_is_beside_what_is_held(script):
    files = {
        "p/held.py": covered(),
        "p/whole.py": covered(),
        "p/lines.py": covered([1]),
        "p/branches.py": covered((), [[1, 2]]),
        "p/empty.py": covered(statements=0),
        "elsewhere/whole.py": covered(),
    }
    assert script.additions(files, ["p/held.py"]) == ["p/whole.py"]


@pytest.mark.parametrize(
    ("missing", "status", "printed"),
    [
        ([], 0, ["1 modules are fully covered"]),
        ([2], 1, ["engine/p/codec.py:2: is not run", "1 gaps in 1 modules"]),
    ],
)
def test_a_gap_fails_and_is_printed(script, tmp_path, monkeypatch, capsys, missing, status, printed):
    def measure(tests, options):
        script.REPORT.write_text(json.dumps({"files": {"engine\\p\\codec.py": covered(missing)}}))
        return 0

    monkeypatch.setattr(script, "LIST", tmp_path / "full_coverage.txt")
    monkeypatch.setattr(script, "REPORT", tmp_path / "full.json")
    monkeypatch.setattr(script, "measure", measure)
    script.LIST.write_text("engine/p/codec.py\n")
    assert script.main([]) == status
    assert capsys.readouterr().out.splitlines() == printed


def test_tests_that_fail_fail_it(script, monkeypatch):
    monkeypatch.setattr(script, "measure", lambda tests, options: 1)
    assert script.main([]) == 1
