"""Commands run in this process, over a fake engine."""

import dataclasses
import io
import json

import pytest
from fake_engine import FakeCatalog, FakeEngine, model_info

from mezzotint.cli.context import Context
from mezzotint.cli.entry import run
from mezzotint.cli.interrupt import Interrupt
from mezzotint.cli.terminal import Terminal


class Stream(io.StringIO):
    """A stream that may be a terminal."""

    def __init__(self, tty=False):
        super().__init__()
        self.tty = tty

    def isatty(self):
        return self.tty


@dataclasses.dataclass
class Outcome:
    code: int
    out: str
    err: str
    engine: FakeEngine
    folders: list

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def request(self):
        return self.engine.requests[-1]


@pytest.fixture
def command():
    """Runs a command: its words, and what stands in for the world."""

    def call(*words, models=None, metadata=None, stdout=None, stderr=None, interrupt=None, engine=None):
        engine = engine or FakeEngine()
        terminal = Terminal(stdout or Stream(), stderr or Stream())
        folders = []

        def make_catalog(more):
            folders.extend(more)
            return FakeCatalog([model_info()] if models is None else models)

        context = Context(
            terminal=terminal,
            interrupt=interrupt or Interrupt(end=lambda code: None),
            make_catalog=make_catalog,
            make_engine=lambda catalog: engine,
            read_metadata=lambda path: metadata,
        )
        code = run(list(words), context)
        out, err = (getattr(stream, "getvalue", str)() for stream in (terminal.stdout, terminal.stderr))
        return Outcome(code=code, out=out, err=err, engine=engine, folders=folders)

    return call


@pytest.fixture
def stream():
    return Stream
