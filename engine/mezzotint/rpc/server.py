"""JSON-RPC 2.0 for both engine processes: one object per line, methods declared in a table."""

import logging
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeGuard

from mezzotint import __version__
from mezzotint.codec import decode, encode, parse_json
from mezzotint.errors import Busy, Cancelled, MezzotintError, OutOfMemory, ProtocolError
from mezzotint.protocol import SCHEMA_VERSION, EngineInfo, IsCancelled
from mezzotint.queue_protocol import OnJobEvent
from mezzotint.rpc.connection import MAX_LINE, Connection
from mezzotint.rpc.process import GRACE

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
SERVER_ERROR = -32000

# How queries run: one at a time; newest first, several at once; in a thread of their own; several at once, for those
# that wait on others, such as a server. The second and the last can be cancelled.
LaneName = Literal["in order", "newest first", "apart", "waiting"]

_WAITING_THREADS = 4
_IMAGE_THREADS = max(2, min(4, os.cpu_count() or 1))

_CAN_BE_CANCELLED: tuple[LaneName, ...] = ("newest first", "waiting")

_log = logging.getLogger("mezzotint.rpc")


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A method of the table. A job sends events, can be cancelled, and runs in parallel with queries."""

    params: object  # type to decode params to; None: takes none
    run: Callable[[Any, OnJobEvent, IsCancelled], object]  # (params, send_event, cancelled) -> protocol value
    job: bool = False
    lane: LaneName = "in order"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A received call."""

    id: str | int | None  # None: a notification, without response
    method: str
    params: object


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """A cancellable call, from arrival to response."""

    id: str | int
    job: bool
    lane: "Lane"
    cancel: threading.Event = field(default_factory=threading.Event)


class Lane:
    """A pool of threads for tasks; started on demand and kept, as torch's settings are per thread."""

    def __init__(self, name: str, threads: int = 1, *, newest_first: bool = False) -> None:
        self._name = name
        self._max_threads = threads
        self._newest_first = newest_first
        self._waiting: OrderedDict[object, Callable[[], None]] = OrderedDict()
        self._changed = threading.Condition()
        self._threads: list[threading.Thread] = []
        self._idle = 0
        self._ending = False

    def submit(self, task: Callable[[], None], key: object = None) -> None:
        """Queue a task; until it starts, it can be taken back by its key."""
        with self._changed:
            self._waiting[object() if key is None else key] = task
            if len(self._waiting) > self._idle and len(self._threads) < self._max_threads:
                thread = threading.Thread(target=self._work, name=f"{self._name} {len(self._threads)}", daemon=True)
                self._threads.append(thread)
                thread.start()
            self._changed.notify()

    def withdraw(self, key: object) -> Callable[[], None] | None:
        """Remove and return a task that has not started; None if it has, or is unknown."""
        with self._changed:
            return self._waiting.pop(key, None)

    def stop(self, seconds: float) -> bool:
        """Finish all waiting tasks; returns whether that took at most `seconds`."""
        with self._changed:
            self._ending = True
            self._changed.notify_all()
        end = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def _work(self) -> None:
        while (task := self._next()) is not None:
            task()

    def _next(self) -> Callable[[], None] | None:
        with self._changed:
            self._idle += 1
            while not self._waiting and not self._ending:
                self._changed.wait()
            self._idle -= 1
            return self._waiting.popitem(last=self._newest_first)[1] if self._waiting else None


class RpcServer:
    """Serves line-delimited calls from a table of methods."""

    def __init__(
        self,
        connection: Connection,
        methods: Mapping[str, Method],
        *,
        versions: Callable[[], dict[str, str]],
        max_jobs: int = 1,
        grace: float = GRACE,
        on_error: Callable[[MezzotintError], None] = lambda _: None,
    ) -> None:
        self._connection = connection
        self._methods = methods
        self._versions = versions
        self._max_jobs = max_jobs
        self._grace = grace
        self._on_error = on_error
        self._lock = threading.Lock()
        self._work: dict[str | int, _Work] = {}
        self._ending = self._abandoned = False
        self._jobs = Lane("jobs", max_jobs)
        self._lanes: dict[LaneName, Lane] = {
            "in order": Lane("questions"),
            "newest first": Lane("images", _IMAGE_THREADS, newest_first=True),
            "apart": Lane("apart"),
            "waiting": Lane("waiting", _WAITING_THREADS),
        }

    def run(self) -> bool:
        """Serve until the input ends or `shutdown` is called; returns False if work did not stop in time."""
        try:
            for line in self._connection.lines():
                self._read(line)
                if self._ending or self._connection.lost.is_set():
                    break
        except KeyboardInterrupt:
            _log.info("interrupted")
        self._abandoned = not self._ending
        return self._stop()

    def abandoned(self) -> bool:
        """Whether the parent process went away without a `shutdown`, that is, died."""
        return self._abandoned or self._connection.lost.is_set()

    def _stop(self) -> bool:
        with self._lock:
            running = list(self._work.values())
        for work in running:
            _cancel(work)
        end = time.monotonic() + self._grace
        stopped = [lane.stop(max(0.0, end - time.monotonic())) for lane in (self._jobs, *self._lanes.values())]
        return all(stopped)

    # ---- calls

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

    def _dispatch(self, call: Call) -> None:
        match call.method:
            case "initialize":
                self._reply(call, lambda: self._initialize(call.params))
            case "cancel":
                self._reply(call, lambda: self._cancel(call.params))
            case "shutdown":
                self._ending = True
                self._reply(call, lambda: None)
            case name if name in self._methods:
                self._begin(call, self._methods[name])
            case _:
                self._refuse(call.id, ProtocolError(f"there is no method {call.method[:60]!r}"), METHOD_NOT_FOUND)

    def _begin(self, call: Call, method: Method) -> None:
        """Queue a call in its lane, or refuse it."""
        if method.job and call.id is None:
            return self._refuse(None, ProtocolError(f"{call.method} needs an id: it names the job"), INVALID_REQUEST)
        try:
            params = _params(call, method)
        except ProtocolError as error:
            return self._refuse_call(call, error, INVALID_PARAMS)
        lane = self._jobs if method.job else self._lanes[method.lane]
        if call.id is None or not (method.job or method.lane in _CAN_BE_CANCELLED):
            return lane.submit(lambda: self._reply(call, lambda: method.run(params, self._event_sender(call), _never)))
        try:
            work = self._admit(call.id, method, lane)
        except MezzotintError as error:
            return self._refuse_call(call, error, SERVER_ERROR)
        return lane.submit(lambda: self._reply(call, lambda: self._do(work, call, method, params)), call.id)

    def _admit(self, call_id: str | int, method: Method, lane: Lane) -> _Work:
        with self._lock:
            jobs = [work.id for work in self._work.values() if work.job]
            if method.job and len(jobs) >= self._max_jobs:
                raise Busy(f"job {jobs[0]!r} is running; cancel it or wait for its result")
            if call_id in self._work:
                raise Busy(f"a call with id {call_id!r} is already running")
            work = self._work[call_id] = _Work(id=call_id, job=method.job, lane=lane)
            return work

    def _do(self, work: _Work, call: Call, method: Method, params: object) -> object:
        def cancelled() -> bool:
            return work.cancel.is_set() or self._connection.lost.is_set()

        try:
            if cancelled() and not method.job:  # a job reports itself what it leaves behind
                raise Cancelled("stopped")
            return method.run(params, self._event_sender(call), cancelled)
        finally:
            with self._lock:
                del self._work[work.id]  # before the response is sent: the next job may follow at once

    def _event_sender(self, call: Call) -> OnJobEvent:
        """A callback that sends events of a call."""
        return lambda event: self._connection.send(
            {"method": "event", "params": {"job": call.id, "event": encode(event)}}
        )

    def _cancel(self, params: object) -> dict[str, bool]:
        if not isinstance(params, dict) or set(params) != {"job"}:
            raise ProtocolError('cancel takes {"job": the id of its call}')
        with self._lock:
            work = self._work.get(params["job"]) if _is_id(params["job"]) else None
        if work is None:
            return {"cancelled": False}
        _cancel(work)
        return {"cancelled": True}

    def _initialize(self, params: object) -> EngineInfo:
        """Describe this process; without devices, since finding them takes torch."""
        if not isinstance(params, dict) or params.get("schema_version") != SCHEMA_VERSION:
            raise ProtocolError(
                f'this engine speaks schema version {SCHEMA_VERSION}: {{"schema_version": {SCHEMA_VERSION}}}'
            )
        return EngineInfo(
            schema_version=SCHEMA_VERSION,
            version=__version__,
            versions=self._versions(),
            devices=(),
            threads=os.cpu_count() or 1,
        )

    # ---- responses

    def _reply(self, call: Call, produce: Callable[[], object]) -> None:
        try:
            result = encode(produce())
        except ProtocolError as error:
            self._refuse_call(call, error, INVALID_PARAMS)
        except MezzotintError as error:
            self._refuse_call(call, error, SERVER_ERROR)
            self._on_error(error)
        except MemoryError:
            self._refuse_call(call, OutOfMemory("the machine's memory is used up"), SERVER_ERROR)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  reported to caller and log; a Rust panic is no Exception
            _log.exception("bug in %s", call.method)
            self._refuse_call(call, _bug(error), INTERNAL_ERROR)
        else:
            if call.id is not None:
                self._connection.send({"id": call.id, "result": result})

    def _refuse_call(self, call: Call, error: MezzotintError, code: int) -> None:
        if call.id is not None:
            self._refuse(call.id, error, code)

    def _refuse(self, call_id: str | int | None, error: MezzotintError, code: int) -> None:
        data = {"kind": error.kind, "exit_code": error.exit_code, "message": str(error)}
        self._connection.send({"id": call_id, "error": {"code": code, "message": str(error), "data": data}})


def _cancel(work: _Work) -> None:
    work.cancel.set()
    if not work.job and (waiting := work.lane.withdraw(work.id)) is not None:
        waiting()  # only responds that it was stopped


def _never() -> bool:
    return False


def _params(call: Call, method: Method) -> object:
    if method.params is not None:
        return decode(method.params, call.params)  # type: ignore[arg-type]
    if call.params not in (None, {}, []):
        raise ProtocolError(f"{call.method} takes no params")
    return None


def _bug(error: BaseException) -> MezzotintError:
    failure = MezzotintError(f"unexpected {type(error).__name__}; the log has the traceback, please report it")
    failure.kind = "bug"
    return failure


def _id_of(message: object) -> str | int | None:
    call_id = message.get("id") if isinstance(message, dict) else None
    return call_id if _is_id(call_id) else None


def _is_id(value: object) -> TypeGuard[str | int]:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _call(message: object) -> Call:
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise ProtocolError('not a JSON-RPC call: expected an object with "jsonrpc": "2.0"')
    method = message.get("method")
    if not isinstance(method, str):
        raise ProtocolError("not a JSON-RPC call: it has no method")
    if "id" in message and _id_of(message) is None:
        raise ProtocolError("an id must be text or an integer")
    return Call(id=_id_of(message), method=method, params=message.get("params"))
