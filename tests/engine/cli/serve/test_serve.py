"""`mezzotint serve`: what it takes and says."""

import json

import pytest

from mezzotint.cli.interrupt import Interrupt
from mezzotint.cli.serve.token import TOKEN_VARIABLE

TOKEN = "a token of many characters"


@pytest.fixture
def serve(command, tmp_path, monkeypatch):
    """Runs the command until it is ready."""
    monkeypatch.delenv(TOKEN_VARIABLE, raising=False)
    interrupt = Interrupt(tell=lambda text: None, end=lambda code: None)
    interrupt.stop_requested = lambda: True

    def call(*words):
        return command("serve", "--port", "0", "-o", str(tmp_path / "out"), *words, interrupt=interrupt)

    return call


def test_it_shows_the_address_and_a_new_token(serve):
    done = serve()
    address, token = done.out.splitlines()
    assert done.code == 0 and address.startswith("serving http://127.0.0.1:") and len(token.split()[1]) >= 40
    assert "Ctrl-C" in done.err and done.engine.closed
    assert serve().out.splitlines()[1] != token


def test_as_json(serve):
    shown = serve("--json").json
    assert shown["url"].startswith("http://127.0.0.1:") and len(shown["token"]) >= 40


def test_a_given_token_is_not_shown(serve, tmp_path, monkeypatch):
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    done = serve("--token-file", str(tmp_path / "token"))
    assert done.code == 0 and TOKEN not in done.out + done.err
    monkeypatch.setenv(TOKEN_VARIABLE, TOKEN)
    done = serve("--json")
    assert done.json["token"] is None and TOKEN not in done.out + done.err


def test_other_machines_only_when_asked_and_with_a_token(serve):
    done = serve("--host", "0.0.0.0")
    assert done.code == 0 and "other machines" in done.err
    done = serve("--host", "0.0.0.0", "--no-token")
    assert done.code == 2 and "--no-token" in done.err
    done = serve("--no-token")
    assert done.code == 0 and "no token" in done.err and "token " not in done.out


@pytest.mark.parametrize(
    "words",
    [
        ("--allow-origin", "*"),
        ("--allow-origin", "localhost:3000"),
        ("--allow-origin", "http://localhost/page"),
        ("--allow-origin", "http://localhost:3000@example.org"),
        ("--allow-origin", "http://localhost:x"),
        ("--allow-origin", "http://[localhost"),
        ("--token-file", "absent"),
        ("--no-token", "--token-file", "absent"),
        ("--port", "70000"),
        ("--host", "192.0.2.1"),
        ("-m", "no-such"),
    ],
    ids=" ".join,
)
def test_what_cannot_work_is_said_in_a_line(serve, words):
    done = serve(*words)
    assert done.code in (2, 7) and done.err.count("\n") == 1 and not done.out


def test_a_token_that_can_be_guessed_is_refused(serve, monkeypatch):
    monkeypatch.setenv(TOKEN_VARIABLE, "secret")
    done = serve()
    assert done.code == 2 and "16 to 512" in done.err and "secret" not in done.err


def test_origins_are_taken_as_browsers_write_them(serve):
    assert json.loads(serve("--json", "--allow-origin", "http://LocalHost:3000/").out)["url"]
