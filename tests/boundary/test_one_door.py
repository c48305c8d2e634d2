"""The real engine behind its process and behind the command line: the same request, the same pixels."""

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mezzotint.cli import main
from mezzotint.codec import decode, decode_event, encode
from mezzotint.protocol import (
    SCHEMA_VERSION,
    Cascade,
    EngineInfo,
    GenerateRequest,
    GenerateResult,
    MemoryNow,
    ModelInfo,
    ModelRef,
    Output,
    Sampling,
    Saved,
    Stage,
    Step,
)


class Server:
    """`python -m mezzotint.server`, and a client of it."""

    def __init__(self, folder):
        command = [sys.executable, "-m", "mezzotint.server", "--models-folder", str(folder)]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)

    def call(self, call_id, method, params=None):
        call = {"jsonrpc": "2.0", "id": call_id, "method": method, "params": params}
        self.process.stdin.write(json.dumps(call).encode() + b"\n")
        self.process.stdin.flush()

    def read(self):
        line = self.process.stdout.readline()
        assert line, "the engine ended; its log is above"
        return json.loads(line)

    def answer(self, call_id, on_event=lambda event: None):
        while (message := self.read()).get("id") != call_id:
            if message.get("method") == "event":
                on_event(decode_event(message["params"]["event"]))
        return message

    def end(self):
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        code = self.process.wait()
        self.process.stdout.close()
        return code


@pytest.fixture(scope="module")
def server(tiny_pixart_folder):
    server = Server(tiny_pixart_folder.parent)
    yield server
    assert server.end() == 0


def asked(folder, output, **changes):
    sampling = Sampling(steps=changes.pop("steps", 3))
    stage = Stage(model=ModelRef(id=str(folder)), width=64, height=64, sampling=sampling)
    where = Output(path=f"{output}/")
    values = {"prompt": "a red house", "seed": 7, "cascade": Cascade(stages=(stage,)), "output": where}
    return GenerateRequest(**values | changes)


def pixels_of_command(capfd, *words):
    assert main([*words, "--json", "--quiet"]) == 0
    return [image.sha256 for image in decode(GenerateResult, json.loads(capfd.readouterr().out)).images]


def test_it_says_what_it_is_and_which_models_there_are(server, tiny_pixart_folder):
    server.call(1, "initialize", {"schema_version": SCHEMA_VERSION})
    assert decode(EngineInfo, server.answer(1)["result"]).version
    server.call(2, "models")
    models = decode(tuple[ModelInfo, ...], server.answer(2)["result"])
    assert str(tiny_pixart_folder) in {model.path for model in models}
    server.call(3, "info")
    assert decode(EngineInfo, server.answer(3)["result"]).devices[-1].id == "cpu"
    server.call(4, "memory")
    now = decode(MemoryNow, server.answer(4)["result"])
    assert 0 < now.ram_bytes < now.ram_total_bytes


def test_the_process_and_the_command_line_make_the_same_image(server, tiny_pixart_folder, tmp_path, capfd):
    request = asked(tiny_pixart_folder, tmp_path / "process")
    events = []
    server.call("job", "generate", encode(request))
    result = decode(GenerateResult, server.answer("job", events.append)["result"])
    assert [event.step for event in events if isinstance(event, Step)] == [1, 2, 3]
    assert [event.image for event in events if isinstance(event, Saved)] == list(result.images)
    words = f"--seed 7 --steps 3 --size 64x64 -m {tiny_pixart_folder} -o {tmp_path / 'command'}/".split()
    first = result.images[0]
    assert pixels_of_command(capfd, "generate", "a red house", *words) == [first.sha256]
    assert pixels_of_command(capfd, "generate", "--from", first.path, "-o", str(tmp_path / "again.png")) == [
        first.sha256
    ]


def test_a_stopped_job_leaves_nothing_behind(server, tiny_pixart_folder, tmp_path):
    folder = tmp_path / "out"
    server.call(10, "generate", encode(asked(tiny_pixart_folder, folder, steps=900)))
    while server.read().get("params", {}).get("event", {}).get("type") != "Step":
        pass
    server.call(11, "cancel", {"job": 10})
    answers = {}
    while not {10, 11} <= answers.keys():
        message = server.read()
        answers[message.get("id")] = message
    assert answers[11]["result"] == {"cancelled": True}
    assert answers[10]["error"]["data"]["exit_code"] == 130
    assert not folder.exists() or list(Path(folder).iterdir()) == []


@pytest.mark.slow
def test_an_engine_whose_window_dies_ends_its_job_and_itself(tiny_pixart_folder, tmp_path):
    server = Server(tiny_pixart_folder.parent)
    server.call(1, "generate", encode(asked(tiny_pixart_folder, tmp_path / "out", steps=900)))
    server.read()
    assert server.end() == 0
