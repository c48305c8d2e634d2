"""One window at a time: a second start hands its arguments to the first, and raises it."""

import contextlib
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QLockFile, QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from mezzotint import paths
from mezzotint_app.clock import Clock, SystemClock

_CONNECTING = 80  # milliseconds
_WRITING = 40
_ANSWERING = 80
_MOST = 1 << 20  # bytes of a message
_LONGEST = 2.0  # seconds that a message may take to arrive
_LONGEST_PATH = 100  # bytes of a socket's path that every system takes
_HEARD = b"ok\n"


class SingleInstance(QObject):
    """The first to claim is the window; each later start becomes a message to it."""

    raised = Signal()  # somebody started Mezzotint once more
    given = Signal(object)  # list[str]: the paths that came with it

    def __init__(self, folder: Path | None = None, clock: Clock | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._folder = folder
        self.answered = True  # whether the first window, where there is one, has heard of this start
        self._lock: QLockFile | None = None
        self._server: QLocalServer | None = None
        self._callers: list[_Caller] = []
        self._clock = clock or SystemClock(self)

    def claim(self, arguments: Sequence[str] = ()) -> bool:
        """Whether this is the first; if not, the first is told, within a fifth of a second.

        Where nothing of this works, such as in a folder that cannot be written, it is as if this were the first.
        """
        try:
            folder = _private(self._folder or _runtime_folder())
        except OSError:
            return True
        self._lock = QLockFile(str(folder / "window.lock"))
        self._lock.setStaleLockTime(0)  # an old lock is as good as a new one, while its process lives
        if self._lock.tryLock(0):
            self._listen(_socket_name(folder))
            return True
        if self._lock.error() != QLockFile.LockError.LockFailedError:
            return True
        self.answered = _told(_socket_name(folder), arguments)
        return False

    def release(self) -> None:
        """Stop being the single instance."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for caller in self._callers:
            caller.delete()
        self._callers.clear()
        if self._lock is not None:
            self._lock.unlock()
            self._lock = None

    def _listen(self, name: str) -> None:
        server = QLocalServer(self)
        if sys.platform == "win32":
            server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        # Whoever left it is dead: this process has the lock. Its folder is private.
        QLocalServer.removeServer(name)
        server.newConnection.connect(self._on_connection)
        if server.listen(name):
            self._server = server

    def _on_connection(self) -> None:
        while self._server is not None and (socket := self._server.nextPendingConnection()) is not None:
            # Not the server's, which may be closed before; nor Python's, which would delete it as soon as it is
            # forgotten: in the middle of its own signal.
            socket.setParent(self)
            caller = _Caller(socket)
            self._callers.append(caller)
            socket.readyRead.connect(self._read)
            socket.disconnected.connect(self._forget)
            self._clock.after(_LONGEST, caller.put_off)
        self._read()

    def _read(self) -> None:
        for caller in list(self._callers):
            if (line := caller.line()) is not None:
                with contextlib.suppress(ValueError, RecursionError):
                    self.hear(json.loads(line))

    def _forget(self) -> None:
        self._read()  # who does not wait for an answer has still said something
        for caller in [one for one in self._callers if one.has_gone()]:
            self._callers.remove(caller)
            caller.delete()

    def hear(self, message: object) -> None:
        """Another start, as it told itself."""
        told = message if isinstance(message, dict) else {}
        arguments = told.get("arguments")
        token = told.get("activation")
        if isinstance(token, str) and token:
            os.environ["XDG_ACTIVATION_TOKEN"] = token  # by which Wayland lets a window come to the front
        self.raised.emit()
        if isinstance(arguments, list) and arguments and all(isinstance(one, str) for one in arguments):
            self.given.emit(arguments)


class _Caller:
    """One start that tells about itself: a line, in time, and not too long."""

    def __init__(self, socket: QLocalSocket) -> None:
        self._socket: QLocalSocket | None = socket
        self._data = b""

    def line(self) -> bytes | None:
        """What it said, once it has said it all."""
        socket = self._socket  # the one who called may have gone, which is told while it is answered
        if socket is None or not socket.bytesAvailable():
            return None
        self._data += bytes(socket.readAll().data())
        if b"\n" in self._data[:_MOST]:
            line, self._data = self._data.partition(b"\n")[0], b""
            if not self.has_gone():
                socket.write(_HEARD)
                socket.flush()  # whoever waits does not wait long
                socket.disconnectFromServer()
            return line
        if len(self._data) > _MOST:
            self.put_off()
        return None

    def has_gone(self) -> bool:
        """Whether it has disconnected."""
        return self._socket is None or self._socket.state() == QLocalSocket.LocalSocketState.UnconnectedState

    def put_off(self) -> None:
        """Disconnect it at once."""
        if self._socket is not None:
            self._socket.abort()

    def delete(self) -> None:
        """Delete it once it has disconnected."""
        if self._socket is not None:
            self._socket.deleteLater()
            self._socket = None


def _told(name: str, arguments: Sequence[str]) -> bool:
    socket = QLocalSocket()
    socket.connectToServer(name)
    if not socket.waitForConnected(_CONNECTING):
        return False
    here = os.environ.get("XDG_ACTIVATION_TOKEN", "")
    message = {"arguments": [str(Path(one).absolute()) for one in arguments], "activation": here}
    socket.write(json.dumps(message).encode("ascii") + b"\n")
    if not socket.waitForBytesWritten(_WRITING):
        return False
    heard = socket.waitForReadyRead(_ANSWERING) and bytes(socket.readAll().data()) == _HEARD
    socket.abort()
    return heard


def _runtime_folder() -> Path:
    """Of this user; another where Mezzotint keeps its state elsewhere, for that is another queue."""
    state = hashlib.sha256(os.fsencode(paths.state_folder().absolute())).hexdigest()[:12]
    base = os.environ.get("XDG_RUNTIME_DIR")
    folder = Path(base or paths.state_folder()) / f"mezzotint-{state}"
    if sys.platform != "win32" and len(os.fsencode(folder)) + len("/window.socket") > _LONGEST_PATH:
        folder = Path(tempfile.gettempdir()) / f"mezzotint-{os.getuid()}-{state}"
    return folder


def _private(folder: Path) -> Path:
    """The folder, which nobody else may enter. Raises OSError when it cannot be had."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if sys.platform != "win32":
        about = folder.lstat()
        if about.st_uid != os.getuid() or folder.is_symlink():
            raise PermissionError(f"{folder} belongs to another user")
        folder.chmod(0o700)
    return folder


def _socket_name(folder: Path) -> str:
    """A path, but for Windows, whose pipes have names."""
    return folder.name if sys.platform == "win32" else str(folder / "window.socket")
