"""Allows only one window: a second start passes its arguments to the first and raises its window."""

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
_LONGEST_PATH = 100  # bytes of a socket path that every system accepts
_ACKNOWLEDGED = b"ok\n"


class SingleInstance(QObject):
    """The first instance to claim owns the window; later starts send it a message."""

    raised = Signal()  # Mezzotint was started again
    paths_received = Signal(object)  # list[str]: the paths passed to the new start

    def __init__(self, folder: Path | None = None, clock: Clock | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._folder = folder
        self.answered = True  # whether the first instance, if there is one, has acknowledged this start
        self._lock: QLockFile | None = None
        self._server: QLocalServer | None = None
        self._callers: list[_Caller] = []
        self._clock = clock or SystemClock(self)

    def claim(self, arguments: Sequence[str] = ()) -> bool:
        """Return whether this is the first instance; if it is not, notify the first, within a fifth of a second.

        Also returns True if locking fails, such as in a folder that cannot be written.
        """
        try:
            folder = _private(self._folder or _runtime_folder())
        except OSError:
            return True
        self._lock = QLockFile(str(folder / "window.lock"))
        self._lock.setStaleLockTime(0)  # a lock does not expire while its process is running
        if self._lock.tryLock(0):
            self._listen(_socket_name(folder))
            return True
        if self._lock.error() != QLockFile.LockError.LockFailedError:
            return True
        self.answered = _notify(_socket_name(folder), arguments)
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
        # A stale socket: this process holds the lock, and its folder is private.
        QLocalServer.removeServer(name)
        server.newConnection.connect(self._on_connection)
        if server.listen(name):
            self._server = server

    def _on_connection(self) -> None:
        while self._server is not None and (socket := self._server.nextPendingConnection()) is not None:
            # Not a child of the server, which may be closed earlier. Without any parent, Python would delete it along
            # with its last reference: in the middle of its own signal.
            socket.setParent(self)
            caller = _Caller(socket)
            self._callers.append(caller)
            socket.readyRead.connect(self._read)
            socket.disconnected.connect(self._forget)
            self._clock.after(_LONGEST, caller.disconnect)
        self._read()

    def _read(self) -> None:
        for caller in list(self._callers):
            if (line := caller.line()) is not None:
                with contextlib.suppress(ValueError, RecursionError):
                    self.receive(json.loads(line))

    def _forget(self) -> None:
        self._read()  # a client that does not wait for an answer may still have sent a message
        for caller in [one for one in self._callers if one.has_gone()]:
            self._callers.remove(caller)
            caller.delete()

    def receive(self, message: object) -> None:
        """Handle the message of another start."""
        fields = message if isinstance(message, dict) else {}
        arguments = fields.get("arguments")
        token = fields.get("activation")
        if isinstance(token, str) and token:
            os.environ["XDG_ACTIVATION_TOKEN"] = token  # allows the window to come to the front on Wayland
        self.raised.emit()
        if isinstance(arguments, list) and arguments and all(isinstance(one, str) for one in arguments):
            self.paths_received.emit(arguments)


class _Caller:
    """A client connection that sends one line, limited in time and length."""

    def __init__(self, socket: QLocalSocket) -> None:
        self._socket: QLocalSocket | None = socket
        self._data = b""

    def line(self) -> bytes | None:
        """The received line once it is complete, or else None."""
        socket = self._socket  # the client may disconnect, which is signalled while it is being answered
        if socket is None or not socket.bytesAvailable():
            return None
        self._data += bytes(socket.readAll().data())
        if b"\n" in self._data[:_MOST]:
            line, self._data = self._data.partition(b"\n")[0], b""
            if not self.has_gone():
                socket.write(_ACKNOWLEDGED)
                socket.flush()  # the client waits only briefly
                socket.disconnectFromServer()
            return line
        if len(self._data) > _MOST:
            self.disconnect()
        return None

    def has_gone(self) -> bool:
        """Whether the client has disconnected."""
        return self._socket is None or self._socket.state() == QLocalSocket.LocalSocketState.UnconnectedState

    def disconnect(self) -> None:
        """Disconnect the client at once."""
        if self._socket is not None:
            self._socket.abort()

    def delete(self) -> None:
        """Delete the socket."""
        if self._socket is not None:
            self._socket.deleteLater()
            self._socket = None


def _notify(name: str, arguments: Sequence[str]) -> bool:
    socket = QLocalSocket()
    socket.connectToServer(name)
    if not socket.waitForConnected(_CONNECTING):
        return False
    here = os.environ.get("XDG_ACTIVATION_TOKEN", "")
    message = {"arguments": [str(Path(one).absolute()) for one in arguments], "activation": here}
    socket.write(json.dumps(message).encode("ascii") + b"\n")
    if not socket.waitForBytesWritten(_WRITING):
        return False
    heard = socket.waitForReadyRead(_ANSWERING) and bytes(socket.readAll().data()) == _ACKNOWLEDGED
    socket.abort()
    return heard


def _runtime_folder() -> Path:
    """The user's runtime folder, one for each state folder, as each has a queue of its own."""
    state = hashlib.sha256(os.fsencode(paths.state_folder().absolute())).hexdigest()[:12]
    base = os.environ.get("XDG_RUNTIME_DIR")
    folder = Path(base or paths.state_folder()) / f"mezzotint-{state}"
    if sys.platform != "win32" and len(os.fsencode(folder)) + len("/window.socket") > _LONGEST_PATH:
        folder = Path(tempfile.gettempdir()) / f"mezzotint-{os.getuid()}-{state}"
    return folder


def _private(folder: Path) -> Path:
    """Create the folder, accessible to this user only. Raises OSError if that fails."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if sys.platform != "win32":
        about = folder.lstat()
        if about.st_uid != os.getuid() or folder.is_symlink():
            raise PermissionError(f"{folder} belongs to another user")
        folder.chmod(0o700)
    return folder


def _socket_name(folder: Path) -> str:
    """The socket's path, or on Windows the pipe's name."""
    return folder.name if sys.platform == "win32" else str(folder / "window.socket")
