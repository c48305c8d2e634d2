"""The bootstrap as a process: its events, its exit codes, and pausing."""

import json
import subprocess

import pytest
from setup_made import command, environment, installer, seal

from mezzotint_setup.command import main
from mezzotint_setup.root import Root, default_root
from mezzotint_setup.update import is_allowed


def events(words, root, payload, said=None):
    done = subprocess.run(
        command([*words, "--jsonl"], root, payload), env=environment(), input=said, capture_output=True, text=True
    )
    assert done.stderr == ""
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def test_an_installation_as_json_lines(root, payload):
    code, told = events(["install", "--backend", "cpu"], root, payload)
    assert code == 0
    assert [one["name"] for one in told if one["event"] == "phase"] == ["download", "build", "prove", "switch"]
    progress = [one for one in told if one["event"] == "progress"]
    assert progress[0]["done"] == 0 and progress[-1]["done"] == progress[-1]["total"] > 15000
    assert told[-1] == {"event": "done", "version": "1.0-cpu", "notes": []}


def test_a_failure_has_a_next_step_and_a_code(root, payload):
    (payload / "payload.json").unlink()
    code, told = events(["look"], root, payload)
    assert (code, told[-1]["event"], told[-1]["code"]) == (1, "failed", "payload")
    assert told[-1]["next"] and told[-1]["what"]


def test_a_version_also_starts_where_the_payload_is_damaged(root, payload):
    installer(root, payload).install("cpu")
    (payload / "payload.json").unlink()
    done = subprocess.run(command(["start"], root, payload), env=environment(), capture_output=True, text=True)
    assert done.stdout.split() == ["1.0"]


def test_a_disk_that_fails_is_no_traceback(root, payload):
    installer(root, payload).install("cpu")
    installer(root, payload).install("cpu")
    (root / "lock").unlink()
    (root / "lock").mkdir()
    assert events(["back"], root, payload)[1][-1]["code"] == "disk"


def test_a_word_on_stdin_pauses_and_the_same_command_goes_on(root, payload):
    (payload / "uv").write_text("#!/bin/sh\nexec sleep 600\n")
    seal(payload)
    with subprocess.Popen(
        command(["install", "--backend", "cpu", "--jsonl"], root, payload),
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        while '"build"' not in process.stdout.readline():
            pass
        process.stdin.write("pause\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline()) == {"event": "paused"}
        assert process.wait() == 3


@pytest.fixture
def said(root, payload, capsys, in_process):
    def call(*words):
        code = main([words[0], "--root", str(root), "--payload", str(payload), *words[1:]])
        return code, capsys.readouterr().out

    return call


def test_text_for_people(said, root, payload):
    code, text = said("back")
    assert code == 1 and "What to do: go on with this one." in text
    installer(root, payload).install("window")
    assert said("look")[1].startswith("{\n")
    assert "1.0-window.2 is ready" in said("repair")[1]
    code, text = said("remove")
    assert code == 0 and not root.exists()


def test_a_chosen_folder_is_remembered_and_that_of_the_window_emptied(said, root, payload, tmp_path, monkeypatch):
    left = tmp_path / "left"
    installer(left, payload).install("window")
    (left / "payloads").mkdir()  # an update's: the new version may come from it
    assert said("check-update", "--allow", "--root", str(left))[0] == 1
    monkeypatch.setenv("MEZZOTINT_ENGINE_ROOT", str(left))
    assert said("install", "--backend", "window", "--remember")[0] == 0
    monkeypatch.delenv("MEZZOTINT_ENGINE_ROOT")
    assert default_root() == root and is_allowed(Root(root))
    assert [path.name for path in left.iterdir()] == ["payloads"]


def test_the_command_line_of_a_version(root, payload):
    installer(root, payload).install("window")
    run = command(["run", "doctor", "--json"], root, payload)
    done = subprocess.run(run, env=environment(), capture_output=True, text=True)
    assert done.returncode == 1 and "no engine is installed" in done.stderr
    installer(root, payload).install("cpu")
    done = subprocess.run(run, env=environment(), capture_output=True, text=True)
    assert json.loads(done.stdout)["kernels"] == {"failed": []}
    repair = command(["run", "doctor", "--repair"], root, payload)
    done = subprocess.run(repair, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0 and "1.0-cpu.2 is ready" in done.stderr


def test_unknown_words_are_refused(capsys):
    with pytest.raises(SystemExit):
        main(["look", "--other"])
    assert "unrecognized arguments: --other" in capsys.readouterr().err
