"""The engine's server on a separate thread, connected by pipes, with a fake engine."""

import contextlib
import json
import os
import threading

from fake_engine import FakeCatalog, FakeEngine, model_info

from mezzotint.server import Server


class Client:
    """The client's end of the pipes; `serving` runs the server on a thread."""

    def __init__(self, **options):
        calls, self._calls = os.pipe()
        self._answers, answers = os.pipe()
        self.calls = os.fdopen(self._calls, "wb", buffering=0)
        self.answers = os.fdopen(self._answers, "rb")
        self.engine = FakeEngine()
        self.made = []
        self.finished = None
        reader, writer = os.fdopen(calls, "rb"), os.fdopen(answers, "wb")
        self.server = Server(reader, writer, lambda: FakeCatalog([model_info()]), self._make, **options)
        self._thread = threading.Thread(target=self._run, args=(reader, writer))
        self._thread.start()

    def _make(self, catalog):
        self.made.append(catalog)
        return self.engine

    def _run(self, reader, writer):
        self.finished = self.server.run()
        reader.close()
        with contextlib.suppress(OSError):
            writer.close()

    def send(self, data):
        self.calls.write(data + b"\n")

    def call(self, call_id, method, params=None):
        self.send(json.dumps({"jsonrpc": "2.0", "id": call_id, "method": method, "params": params}).encode())

    def read(self):
        line = self.answers.readline()
        return json.loads(line) if line else None

    def answer(self, call_id):
        """Return the answer to a call, and the messages before it."""
        before = []
        while (message := self.read()) is not None:
            if message.get("id", "none") == call_id and "method" not in message:
                return message, before
            before.append(message)
        raise AssertionError(f"no answer to {call_id}; got {before}")

    def end(self):
        with contextlib.suppress(OSError):
            self.calls.close()
        self._thread.join()
        self.answers.close()
