"""The start-up script counts and reports; the times themselves are nothing to test."""

import sys
from pathlib import Path


def run(script, monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", ["startup.py", *words])
    return script.main()


def test_one_run_more_than_asked_is_made_and_left_out(script, tmp_path):
    log = tmp_path / "log"
    seconds, _ = script.measure([sys.executable, "-S", "-c", f"open({str(log)!r}, 'a').write('x')"], 2)
    assert log.read_text() == "xxx"
    assert len(seconds) == 2
    assert min(seconds) > 0


def test_a_line_for_every_command(script, monkeypatch, capsys):
    monkeypatch.setattr(script.shutil, "which", lambda name, path: "mezzotint")
    monkeypatch.setattr(script, "measure", lambda command, runs: ([0.25] * runs, 0.125))
    assert run(script, monkeypatch, "--runs", "3") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in lines[3:]] == [
        f"mezzotint {' '.join(words)}" for words, _ in script.COMMANDS
    ]
    assert all(line.split()[-5:-1] == ["0.250"] * 3 + ["0.125"] for line in lines[3:])


def test_images_go_to_a_folder_that_is_gone_afterwards(script, monkeypatch, capsys):
    folders = []
    monkeypatch.setattr(script.shutil, "which", lambda name, path: "mezzotint")
    monkeypatch.setattr(script, "COMMANDS", ((("generate", "house"), 4.0), (("--help",), 0.3)))
    monkeypatch.setattr(script, "measure", lambda command, runs: (folders.append(command[3:]) or [0.25], 0.125))
    assert run(script, monkeypatch) == 0
    (option, folder), nothing = folders
    assert option == "-o" and not Path(folder).exists() and nothing == []


def test_a_command_that_fails_is_told(script, monkeypatch, capsys):
    monkeypatch.setattr(script.shutil, "which", lambda name, path: sys.executable)
    monkeypatch.setattr(script, "COMMANDS", ((("-c", "raise SystemExit('it broke')"), 0.3),))
    assert run(script, monkeypatch, "--runs", "1") == 1
    assert "ended with exit code 1: it broke" in capsys.readouterr().out


def test_a_missing_program_is_told(script, monkeypatch, capsys):
    monkeypatch.setattr(script.shutil, "which", lambda name, path: None)
    assert run(script, monkeypatch) == 1
    assert "not installed" in capsys.readouterr().out
