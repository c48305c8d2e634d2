"""The rules of tests/plugins/skip_rules.py, applied to small test files."""

import pytest
import skip_rules
from fake_card.install import fake_card

pytest_plugins = ["pytester"]

MISSING_PACKAGE = """
    import pytest

    @pytest.mark.requires_package("no_such_package", "pip install no-such-package")
    def test_it():
        assert False
"""
MISSING_COMMAND = """
    import pytest

    @pytest.mark.requires_command("no-such-program", "apt-get install no-such-program")
    def test_it():
        assert False
"""
MISSING_FOR_MODULE = """
    from skip_rules import skip_module_without

    skip_module_without("no_such_package")
    import no_such_package

    def test_it():
        assert False
"""
PLAIN_SKIP = """
    import pytest

    def test_it():
        pytest.skip("not today")
"""
NEEDS_GPU = """
    import pytest

    @pytest.mark.gpu
    def test_it():
        assert False
"""
EXPECTED_FAILURE = """
    import pytest

    @pytest.mark.xfail
    def test_it():
        assert False
"""
HAVE_ALL = """
    import pytest

    @pytest.mark.requires_package("pytest")
    @pytest.mark.requires_command("python-or-so", "never needed")
    def test_it():
        pass
"""


@pytest.fixture
def outcome(pytester, monkeypatch):
    """Run a test file under the rules; returns the counts and the output."""

    def run(source: str, *, no_skip: bool) -> tuple[dict[str, int], str]:
        monkeypatch.setenv("MEZZOTINT_NO_SKIP", "1" if no_skip else "0")
        monkeypatch.setattr(skip_rules, "has_cuda", lambda: False)
        monkeypatch.setattr(skip_rules.shutil, "which", lambda name: name if name == "python-or-so" else None)
        pytester.makeini("[pytest]\nmarkers = gpu: needs a CUDA device\n")
        pytester.makepyfile(source)
        result = pytester.runpytest_inprocess("-rsf", "-p", "no:cacheprovider", plugins=[skip_rules])
        return result.parseoutcomes(), result.stdout.str()

    return run


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (MISSING_PACKAGE, "pip install no-such-package"),
        (MISSING_COMMAND, "apt-get install no-such-program"),
        (MISSING_FOR_MODULE, "pip install no_such_package"),
        (PLAIN_SKIP, "not today"),
    ],
    ids=["package", "command", "module", "plain"],
)
def test_a_skip_says_what_to_install_and_fails_where_nothing_may_be_skipped(outcome, source, line):
    counts, words = outcome(source, no_skip=False)
    assert counts == {"skipped": 1}
    assert line in words
    counts, words = outcome(source, no_skip=True)
    assert "skipped" not in counts
    assert counts.get("failed", 0) + counts.get("errors", 0) == 1
    assert line in words


def test_gpu_tests_are_skipped_without_a_gpu_even_where_nothing_else_may_be(outcome):
    for no_skip in (False, True):
        counts, _ = outcome(NEEDS_GPU, no_skip=no_skip)
        assert counts == {"skipped": 1}


def test_an_expected_failure_is_no_skip(outcome):
    counts, _ = outcome(EXPECTED_FAILURE, no_skip=True)
    assert counts == {"xfailed": 1}


def test_what_is_there_runs(outcome):
    counts, _ = outcome(HAVE_ALL, no_skip=True)
    assert counts == {"passed": 1}


def test_a_package_without_its_system_libraries_counts_as_missing(monkeypatch):
    lacking = {"json": ("json.no_such_module", "apt-get install libsomething")}
    monkeypatch.setattr(skip_rules, "SYSTEM_LIBRARIES", lacking)
    assert skip_rules.missing_package("json").endswith(": apt-get install libsomething")
    monkeypatch.setattr(skip_rules, "SYSTEM_LIBRARIES", {"json": ("json.decoder", "never needed")})
    assert skip_rules.missing_package("json") is None


@pytest.mark.parametrize(("variables", "expected"), [({}, False), ({"DISPLAY": ":0"}, True), ({"DISPLAY": ""}, False)])
def test_a_display_is_a_matter_of_variables_on_linux(monkeypatch, variables, expected):
    monkeypatch.setattr(skip_rules.sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert skip_rules.has_display() is expected


def test_a_simulated_card_is_no_cuda_device():
    with fake_card():
        assert not skip_rules.has_cuda.__wrapped__()
