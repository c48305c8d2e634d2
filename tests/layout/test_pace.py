"""The rules of tests/plugins/pace.py, applied to small test files."""

from collections import Counter

import pace
import pytest

pytest_plugins = ["pytester"]

BUSY = """
    import subprocess
    import sys
    import time
    import pytest

    def work(seconds):
        begun = time.process_time()
        while time.process_time() - begun < seconds:
            pass

    def elsewhere(seconds):
        code = f"import time\\nwhile time.process_time() < {{seconds}}: pass"
        subprocess.run([sys.executable, "-S", "-c", code], check=True)

    @pytest.fixture(scope="module")
    def shared():
        work(0.3)

    {mark}
    def test_it{arguments}:
        {body}
"""
MANY = """
    import pytest

    @pytest.mark.slow
    @pytest.mark.parametrize("number", range(20))
    def test_slow(number):
        pass

    @pytest.mark.slow_after(2)
    @pytest.mark.parametrize("number", range(5))
    def test_cases(number):
        pass
"""


@pytest.fixture
def run(pytester, monkeypatch):
    """Run a test file with limits of 0.2 and 2 seconds."""
    monkeypatch.setattr(pace, "LIMIT", 0.2)
    monkeypatch.setattr(pace, "FAILS", 2.0)
    monkeypatch.setattr(pace, "_slowness", lambda: 1.0)
    monkeypatch.setattr(pace, "_too_long", {})
    monkeypatch.setattr(pace, "_cases", Counter())

    def call(source, *words, **parts):
        pytester.makeini("[pytest]\nmarkers =\n    slow: it is\n    slow_after: it becomes\n")
        pytester.makepyfile(source.format(**parts) if parts else source)
        return pytester.runpytest_inprocess("-p", "no:cacheprovider", *words, plugins=[pace])

    return call


@pytest.mark.slow_after(3)
@pytest.mark.parametrize(
    ("mark", "arguments", "body", "named"),
    [
        ("", "()", "work(0.4)", True),
        ("", "()", "elsewhere(0.4)", True),
        ("@pytest.mark.slow", "()", "work(0.4)", False),
        ("", "(shared)", "pass", False),
        ("", "()", "time.sleep(0.4)", False),
        ("", "()", "work(0.4); sys.modules.update((f'made_{n}', sys) for n in range(100))", False),
    ],
    ids=["busy", "a busy process", "marked", "a shared fixture", "waiting", "importing"],
)
def test_what_takes_too_long_is_named_and_does_not_fail(run, mark, arguments, body, named):
    result = run(BUSY, mark=mark, arguments=arguments, body=body)
    assert result.parseoutcomes() == {"passed": 1}
    assert result.ret == 0
    assert ("TOO LONG" in result.stdout.str()) == named


def test_what_takes_far_too_long_fails_the_run(run):
    assert run(BUSY, mark="", arguments="()", body="work(2.2)").ret == 1


def test_a_slow_processor_has_longer(run, monkeypatch):
    monkeypatch.setattr(pace, "_slowness", lambda: 4.0)
    assert "TOO LONG" not in run(BUSY, mark="", arguments="()", body="work(0.4)").stdout.str()


def test_cases_after_the_first_are_slow(run):
    result = run(MANY, "-m", "not slow", "-p", "no:randomly", "-v")
    assert [line.split()[0].partition("::")[2] for line in result.outlines if "PASSED" in line] == [
        "test_cases[0]",
        "test_cases[1]",
    ]
    assert result.parseoutcomes() == {"passed": 2, "deselected": 20 + 3}


def test_a_sample_is_drawn_by_the_seed(run):
    drawn = []
    for seed in (1, 1, 2):
        result = run(MANY, "-m", "slow", "--sample", "0.26", "-p", "randomly", f"--randomly-seed={seed}", "-v")
        assert result.parseoutcomes()["passed"] == 6
        drawn.append({line.split()[0] for line in result.outlines if "PASSED" in line})
        assert f"--randomly-seed={seed}" in result.stdout.str()
    assert drawn[0] == drawn[1] != drawn[2]
