"""Whole processes: what is imported, how they end, and what Ctrl-C and a closed pipe do."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

FAKE = textwrap.dedent("""
    import sys
    from fake_engine import FakeCatalog, FakeEngine, model_info
    from mezzotint.cli.context import Context
    from mezzotint.cli.entry import run
    context = Context(make_catalog=lambda folders: FakeCatalog([model_info()]), make_engine=FakeEngine)
""")


def environment():
    return os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}


def start(code, *words, **pipes):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | pipes
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *words], env=environment(), text=True, **pipes
    )


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["generate", "--help"], ["completion", "bash"]])
def test_words_that_need_no_model_load_nothing_heavy(words):
    code = """
        import sys
        from mezzotint.cli import main
        code = main(sys.argv[1:])
        loaded = {"torch", "diffusers", "transformers", "numpy", "PIL", "rich", "mezzotint.engine"} & set(sys.modules)
        sys.exit(code or (f"loaded {loaded}" if loaded else 0))
    """
    with start(code, *words) as process:
        out, err = process.communicate()
    assert process.returncode == 0, err
    assert out


def test_the_module_is_the_program():
    done = subprocess.run(
        [sys.executable, "-m", "mezzotint", "paint"], env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith("mezzotint: error: ")
    assert done.stderr.count("\n") == 1


def test_the_libraries_are_offline_before_a_command_runs():
    code = """
        import os, sys
        from mezzotint.cli import main
        main(["--version"])
        sys.exit(os.environ["HF_HUB_OFFLINE"] != "1")
    """
    with start(code) as process:
        process.communicate()
    assert process.returncode == 0


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals: run on Linux or macOS")
def test_ctrl_c_during_work_stops_it_with_a_word_and_no_traceback():
    code = FAKE + "sys.exit(run(['generate', 'slow', '--jsonl'], context))"
    with start(code) as process:
        process.stdout.readline()  # the first event: the work has begun
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    assert process.returncode == 130
    assert "press Ctrl-C again" in err
    assert err.endswith("mezzotint: stopped\n")
    assert "Traceback" not in err


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals: run on Linux or macOS")
def test_a_second_ctrl_c_ends_work_that_does_not_stop():
    code = FAKE + "sys.exit(run(['generate', 'deaf', '--jsonl'], context))"
    with start(code) as process:
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        told = iter(process.stderr.readline, "")
        assert any("press Ctrl-C again" in line for line in told)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    assert process.returncode == 130
    assert "Traceback" not in err


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals: run on Linux or macOS")
def test_ctrl_c_before_there_is_work_ends_at_once():
    code = FAKE + textwrap.dedent("""
    import signal, time
    def imports(catalog):
        try:
            signal.raise_signal(signal.SIGINT)
            time.sleep(60)
        except BaseException:
            print("it reached the import")
    import dataclasses
    sys.exit(run(['generate', 'a barn'], dataclasses.replace(context, make_engine=imports)))
    """)
    with start(code) as process:
        out, err = process.communicate()
    assert process.returncode == 130
    assert out == ""
    assert err.strip() == "mezzotint: interrupted"


def test_a_closed_pipe_ends_it_quietly():
    code = FAKE + "sys.exit(run(['completion', 'bash'], context))"
    reading, writing = os.pipe()
    os.close(reading)
    with start(code, stdout=writing) as process:
        os.close(writing)
        _, err = process.communicate()
    assert process.returncode == 1
    assert err == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full: run on Linux")
@pytest.mark.parametrize("words", [["models", "list"], ["generate", "a barn", "-q"], ["models", "list", "--json"]])
def test_a_full_disk_behind_stdout_is_told(words):
    with open("/dev/full", "w") as full, start(FAKE + f"sys.exit(run({words!r}, context))", stdout=full) as process:
        _, err = process.communicate()
    assert process.returncode in (3, 7)
    assert "standard output cannot be written" in err
    assert "Traceback" not in err


def test_a_closed_stdout_is_no_crash():
    code = "import sys; sys.stdout = None\n" + FAKE + "sys.exit(run(['generate', 'a barn'], context))"
    with start(code) as process:
        _, err = process.communicate()
    assert process.returncode == 0, err


def test_without_torch_one_line_says_that_there_is_no_engine():
    code = FAKE + textwrap.dedent("""
        def engine(*_):
            raise ModuleNotFoundError("No module named 'torch'", name="torch")

        sys.exit(run(["generate", "a barn"], Context(make_catalog=context.make_catalog, make_engine=engine)))
    """)
    with start(code) as process:
        _, err = process.communicate()
    assert process.returncode == 1
    assert err.startswith("mezzotint: error: no engine is installed here") and err.count("\n") == 1
