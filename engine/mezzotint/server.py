"""The engine as a process of its own: JSON-RPC 2.0, one object per line on stdin and stdout, stderr as the log."""

import argparse
import logging
import os
import queue
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeVar

from mezzotint import __version__
from mezzotint.codec import decode, encode, parse_json, to_json
from mezzotint.errors import Busy, DeviceLost, MezzotintError, OutOfMemory, ProtocolError
from mezzotint.offline import offline_environment
from mezzotint.protocol import (
    SCHEMA_VERSION,
    DecodeRequest,
    EngineInfo,
    Event,
    GeneratedImage,
    GenerateRequest,
    GenerateResult,
    Plan,
    PlanRequest,
)

if TYPE_CHECKING:
    from mezzotint.catalog import Catalog
    from mezzotint.engine import Engine

MAX_LINE = 8 << 20  # bytes
GRACE = 10.0  # seconds that a job has to stop when the process ends

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
SERVER_ERROR = -32000

T = TypeVar("T")

_log = logging.getLogger("mezzotint.server")

MakeCatalog = Callable[[], "Catalog"]
MakeEngine = Callable[["Catalog"], "Engine"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    id: str | int | None  # None: a notification, which gets no answer
    method: str
    params: object


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    id: str | int
    cancel: threading.Event = field(default_factory=threading.Event)


class _Connection:
    """Lines in and out; sending is safe from every thread."""

    def __init__(self, reader: BinaryIO, writer: BinaryIO) -> None:
        self._reader = reader
        self._writer = writer
        self._lock = threading.Lock()
        self.lost = threading.Event()

    def lines(self) -> Iterator[bytes | None]:
        """Each line that is not blank; None for one that is too long."""
        while line := self._reader.readline(MAX_LINE + 1):
            if len(line) > MAX_LINE:
                while line and not line.endswith(b"\n"):
                    line = self._reader.readline(MAX_LINE)
                yield None
            elif line.strip():
                yield line

    def send(self, message: dict[str, object]) -> None:
        """One message; a reader that went away is noted, and its job stopped by that."""
        line = to_json({"jsonrpc": "2.0", **message}).encode("ascii") + b"\n"
        with self._lock:
            try:
                self._writer.write(line)
                self._writer.flush()
            except (OSError, ValueError) as error:  # ValueError: closed on this side
                if not self.lost.is_set():
                    _log.warning("nobody reads the answers any more: %s", error)
                self.lost.set()


class _Worker:
    """One thread that does tasks in turn: torch keeps settings and thread pools by thread."""

    def __init__(self, name: str) -> None:
        self._tasks: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def submit(self, task: Callable[[], None]) -> None:
        self._tasks.put(task)

    def stop(self, seconds: float) -> bool:
        """Whether all was done in that time."""
        self._tasks.put(None)
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            task()


class Server:
    """Answers calls line by line; one picture job at a time, and control calls while it runs."""

    def __init__(
        self,
        reader: BinaryIO,
        writer: BinaryIO,
        make_catalog: MakeCatalog,
        make_engine: MakeEngine,
        grace: float = GRACE,
        exit_process: Callable[[int], None] = os._exit,
    ) -> None:
        self._connection = _Connection(reader, writer)
        self._make_catalog = make_catalog
        self._make_engine = make_engine
        self._grace = grace
        self._exit = exit_process
        self._making = threading.Lock()
        self._catalog: Catalog | None = None
        self._engine: Engine | None = None
        self._job: _Job | None = None
        self._ending = False
        self._jobs = _Worker("jobs")
        self._queries = _Worker("queries")

    def run(self) -> bool:
        """Serve until the input ends or `shutdown` comes; False when a job did not stop in time."""
        try:
            for line in self._connection.lines():
                self._read(line)
                if self._ending or self._connection.lost.is_set():
                    break
        except KeyboardInterrupt:
            _log.info("interrupted")
        return self._stop()

    def _stop(self) -> bool:
        job = self._job
        if job is not None:
            job.cancel.set()
        stopped = self._jobs.stop(self._grace) and self._queries.stop(self._grace)
        if stopped and self._engine is not None:
            self._engine.close()
        return stopped

    # ---- calls in

    def _read(self, line: bytes | None) -> None:
        if line is None:
            return self._refuse(None, ProtocolError(f"a line is longer than {MAX_LINE} bytes"), PARSE_ERROR)
        try:
            message = parse_json(line)
        except ProtocolError as error:
            return self._refuse(None, error, PARSE_ERROR)
        try:
            call = _call(message)
        except ProtocolError as error:
            return self._refuse(_id_of(message), error, INVALID_REQUEST)
        return self._dispatch(call)

    def _dispatch(self, call: _Call) -> None:
        match call.method:
            case "initialize":
                self._reply(call, lambda: _initialize(call.params))
            case "generate":
                self._start(call, GenerateRequest, lambda job, request: self._run(job, request))
            case "decode":
                self._start(call, DecodeRequest, lambda job, request: self._decode(job, request))
            case "cancel":
                self._reply(call, lambda: self._cancel(call.params))
            case "info":
                self._queries.submit(lambda: self._reply(call, lambda: self._loaded_engine().info()))
            case "models":
                self._queries.submit(lambda: self._reply(call, lambda: self._loaded_catalog().models()))
            case "plan":
                self._queries.submit(lambda: self._reply(call, lambda: self._plan(call.params)))
            case "shutdown":
                self._ending = True
                self._reply(call, lambda: None)
            case _:
                self._refuse(call.id, ProtocolError(f"there is no method {call.method[:60]!r}"), METHOD_NOT_FOUND)

    def _start(self, call: _Call, kind: type[T], run: Callable[[_Job, T], object]) -> None:
        """Begin a job, unless one runs."""
        if call.id is None:
            return self._refuse(None, ProtocolError(f"{call.method} needs an id: it names the job"), INVALID_REQUEST)
        if self._job is not None:
            busy = Busy(f"job {self._job.id!r} runs; cancel it or wait for its result")
            return self._refuse(call.id, busy, SERVER_ERROR)
        try:
            request = decode(kind, call.params)
        except ProtocolError as error:
            return self._refuse(call.id, error, INVALID_PARAMS)
        job = self._job = _Job(id=call.id)
        return self._jobs.submit(lambda: self._reply(call, lambda: self._ended(run, job, request)))

    def _ended(self, run: Callable[[_Job, T], object], job: _Job, request: T) -> object:
        try:
            return run(job, request)
        finally:
            self._job = None  # before the answer goes out: the next job may follow at once

    def _run(self, job: _Job, request: GenerateRequest) -> GenerateResult:
        return self._loaded_engine().generate(request, self._events_of(job), self._stop_of(job))

    def _decode(self, job: _Job, request: DecodeRequest) -> GeneratedImage:
        return self._loaded_engine().decode(request, self._events_of(job), self._stop_of(job))

    def _events_of(self, job: _Job) -> Callable[[Event], None]:
        """Sends what happens in the job."""
        return lambda event: self._connection.send(
            {"method": "event", "params": {"job": job.id, "event": encode(event)}}
        )

    def _stop_of(self, job: _Job) -> Callable[[], bool]:
        """Whether it is to end."""
        return lambda: job.cancel.is_set() or self._connection.lost.is_set()

    def _cancel(self, params: object) -> dict[str, bool]:
        if not isinstance(params, dict) or set(params) != {"job"}:
            raise ProtocolError('cancel takes {"job": the id of its generate call}')
        job = self._job
        if job is None or job.id != params["job"]:
            return {"cancelled": False}
        job.cancel.set()
        return {"cancelled": True}

    def _plan(self, params: object) -> Plan:
        return self._loaded_engine().plan(decode(PlanRequest, params))

    def _loaded_catalog(self) -> "Catalog":
        with self._making:
            if self._catalog is None:
                self._catalog = self._make_catalog()
            return self._catalog

    def _loaded_engine(self) -> "Engine":
        catalog = self._loaded_catalog()
        with self._making:
            if self._engine is None:
                self._engine = self._make_engine(catalog)
            return self._engine

    # ---- answers out

    def _reply(self, call: _Call, produce: Callable[[], object]) -> None:
        try:
            result = encode(produce())
        except ProtocolError as error:
            self._refuse_call(call, error, INVALID_PARAMS)
        except MezzotintError as error:
            self._refuse_call(call, error, SERVER_ERROR)
            if isinstance(error, DeviceLost):
                self._lose_device(error)
        except MemoryError:
            self._refuse_call(call, OutOfMemory("the machine's memory is used up"), SERVER_ERROR)
        except (Exception, SystemExit) as error:  # noqa: BLE001  told to the caller and to the log
            _log.exception("a bug in %s", call.method)
            self._refuse_call(call, _bug(error), INTERNAL_ERROR)
        else:
            if call.id is not None:
                self._connection.send({"id": call.id, "result": result})

    def _lose_device(self, error: DeviceLost) -> None:
        """No later job could work here: the process ends, and whoever started it starts a new one."""
        _log.error("%s", error)
        sys.stderr.flush()
        self._exit(error.exit_code)

    def _refuse_call(self, call: _Call, error: MezzotintError, code: int) -> None:
        if call.id is not None:
            self._refuse(call.id, error, code)

    def _refuse(self, call_id: str | int | None, error: MezzotintError, code: int) -> None:
        data = {"kind": error.kind, "exit_code": error.exit_code, "message": str(error)}
        self._connection.send({"id": call_id, "error": {"code": code, "message": str(error), "data": data}})


def _bug(error: BaseException) -> MezzotintError:
    told = MezzotintError(f"unexpected {type(error).__name__}; the log has the traceback, please report it")
    told.kind = "bug"
    return told


def _initialize(params: object) -> EngineInfo:
    """What the engine is; its devices are left out, since looking for them takes torch: `info` has them."""
    if not isinstance(params, dict) or params.get("schema_version") != SCHEMA_VERSION:
        raise ProtocolError(
            f'this engine speaks schema version {SCHEMA_VERSION}: {{"schema_version": {SCHEMA_VERSION}}}'
        )
    from mezzotint import machine

    return EngineInfo(
        schema_version=SCHEMA_VERSION,
        version=__version__,
        versions=machine.versions(),
        devices=(),
        threads=os.cpu_count() or 1,
    )


def _id_of(message: object) -> str | int | None:
    call_id = message.get("id") if isinstance(message, dict) else None
    return call_id if isinstance(call_id, str | int) and not isinstance(call_id, bool) else None


def _call(message: object) -> _Call:
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise ProtocolError('not a JSON-RPC call: expected an object with "jsonrpc": "2.0"')
    method = message.get("method")
    if not isinstance(method, str):
        raise ProtocolError("not a JSON-RPC call: it names no method")
    if "id" in message and _id_of(message) is None:
        raise ProtocolError("an id is text or an integer")
    return _Call(id=_id_of(message), method=method, params=message.get("params"))


def claim_streams() -> tuple[BinaryIO, BinaryIO]:
    """Stdin and stdout for the protocol alone; fd 0 becomes empty, fd 1 the log, since native libraries print there."""
    sys.stdout.flush()
    reader, writer = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # A thread that waits in a read of fd 0 can block others on Windows, and children would inherit it.
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    return reader, writer


def serve(make_catalog: MakeCatalog, make_engine: MakeEngine) -> int:
    """Serve this process's stdin and stdout to their end."""
    offline_environment()
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    if not Server(*claim_streams(), make_catalog, make_engine).run():
        _log.warning("a job did not stop within %s s; ending without it", GRACE)
        sys.stderr.flush()
        os._exit(1)  # a plain return would wait for libraries that are still at work
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """The process that the window starts."""
    parser = argparse.ArgumentParser(prog="python -m mezzotint.server", description=__doc__, allow_abbrev=False)
    parser.add_argument("--models-folder", metavar="DIR", type=Path, action="append", default=[])
    folders: list[Path] = parser.parse_args(argv).models_folder

    def make_catalog() -> "Catalog":
        from mezzotint.catalog import Catalog

        return Catalog.standard(folders)

    def make_engine(catalog: "Catalog") -> "Engine":
        from mezzotint.engine import Engine

        return Engine(catalog)

    return serve(make_catalog, make_engine)


if __name__ == "__main__":
    sys.exit(main())
