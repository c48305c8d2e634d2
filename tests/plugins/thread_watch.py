"""Detect potentially blocking calls of a thread: files, SQLite, sockets, processes, image decoding.

Uses Python's audit events, which no code can avoid, plus wrappers for calls without them: read-only ones of `os`, and
Qt's. Also detects use of an SQLite connection outside the thread that opened it.
"""

import os
import sqlite3
import sys
import threading
import time
from pathlib import Path

from PySide6 import QtCore, QtGui, QtNetwork

AUDITED = (
    *("open", "mmap.__new__", "ctypes.dlopen", "sqlite3.connect", "glob.glob", "tempfile.mkstemp", "tempfile.mkdtemp"),
    *("os.listdir", "os.scandir", "os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.truncate", "os.link"),
    *("os.symlink", "os.chmod", "os.chown", "os.utime", "os.walk", "os.fwalk", "os.system", "os.startfile"),
    *("os.fork", "os.forkpty", "os.posix_spawn", "os.exec", "subprocess.Popen"),
    *("shutil.copyfile", "shutil.copytree", "shutil.move", "shutil.rmtree", "shutil.make_archive"),
    *("socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname"),
)
OF_OS = ("stat", "lstat", "access", "fsync", "fdatasync", "statvfs", "readlink", "sync", "getxattr", "listxattr")
# Qt methods: always, or only if called with a path or bytes.
OF_QT = {
    QtGui.QImage: ("load", "loadFromData", "fromData", "save"),
    QtGui.QPixmap: ("load", "loadFromData", "save"),
    QtGui.QImageReader: ("read", "canRead", "size", "setFileName"),
    QtGui.QImageWriter: ("write",),
    QtGui.QPicture: ("load", "save"),
    QtGui.QMovie: ("start", "jumpToFrame", "jumpToNextFrame"),
    QtGui.QIcon: ("addFile",),
    QtGui.QFontDatabase: ("addApplicationFont",),
    QtCore.QFile: ("open", "exists", "remove", "rename", "copy", "moveToTrash", "size"),
    QtCore.QSaveFile: ("open", "commit"),
    QtCore.QTemporaryFile: ("open",),
    QtCore.QLockFile: ("lock", "tryLock"),
    QtCore.QDir: ("entryList", "entryInfoList", "mkdir", "mkpath", "rmdir", "exists", "removeRecursively"),
    QtCore.QFileInfo: ("exists", "isFile", "isDir", "size", "isReadable", "isWritable", "lastModified"),
    QtCore.QStorageInfo: ("refresh", "bytesAvailable"),
    QtCore.QStandardPaths: ("writableLocation", "locate", "locateAll", "findExecutable", "standardLocations"),
    QtCore.QProcess: ("waitForFinished", "waitForStarted", "waitForReadyRead", "waitForBytesWritten", "execute"),
    QtCore.QThread: ("wait", "msleep", "sleep", "usleep"),
    QtCore.QThreadPool: ("waitForDone",),
    QtNetwork.QLocalSocket: ("waitForConnected", "waitForReadyRead", "waitForBytesWritten", "waitForDisconnected"),
}
GIVEN_A_PATH = (QtGui.QImage, QtGui.QPixmap, QtGui.QIcon, QtGui.QImageReader, QtGui.QMovie, QtCore.QSettings)


class ThreadWatch:
    """Watches the thread it is created in while `on`; `found` maps each place to what was done there."""

    def __init__(self, allowed=()):
        self.on = False
        self.found = {}  # stack: what was done
        self.passed = {}  # reason: how often
        self._allowed = allowed  # reason, and whether it applies to these frames
        self._thread = threading.get_ident()
        self._noting = False

    def install(self):
        sys.addaudithook(self._audited)
        for name in OF_OS:
            if hasattr(os, name):
                self._wrap(os, name, f"os.{name}")
        for kind, names in OF_QT.items():
            for name in names:
                self._wrap(kind, name, f"{kind.__name__}.{name}")
        for kind in GIVEN_A_PATH:
            self._wrap(kind, "__init__", kind.__name__, self._is_of_a_file)
        self._wrap(time, "sleep", "time.sleep", lambda given, _named: bool(given and given[0]))
        self._wrap(sqlite3, "connect", "sqlite3 for every thread", self._is_for_every_thread, everywhere=True)
        return self

    def _audited(self, event, given):
        if event in AUDITED:
            self.note(event, given[:1])

    def _wrap(self, owner, name, what, when=lambda _given, _named: True, *, everywhere=False):
        before = getattr(owner, name)

        def watched(*given, **named):
            if when(given, named):
                self.note(what, given, everywhere=everywhere)
            return before(*given, **named)

        still = isinstance(owner, type) and isinstance(owner.__dict__.get(name), staticmethod)
        setattr(owner, name, staticmethod(watched) if still else watched)

    def _is_of_a_file(self, given, _named):
        return any(isinstance(one, (str, bytes, Path, QtCore.QByteArray)) for one in given[1:])

    def _is_for_every_thread(self, _given, named):
        return named.get("check_same_thread", True) is not True

    def note(self, what, given=(), *, everywhere=False):
        if not self.on or self._noting or (threading.get_ident() != self._thread and not everywhere):
            return
        self._noting = True
        try:
            frames = [(code.co_filename, line, code.co_name) for code, line in _stack()]
            reason = next((reason for reason, is_it in self._allowed if is_it(frames)), None)
            if reason is None:
                place = "\n".join(f"{name}:{line} {function}" for name, line, function in frames[:14])
                named = ", ".join(str(one) for one in given if isinstance(one, (str, Path)))
                self.found.setdefault(place, f"{what} {named[:120]}")
            else:
                self.passed[reason] = self.passed.get(reason, 0) + 1
        finally:
            self._noting = False


def _stack():
    """Yield frames from the innermost outwards, without those of this file."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename != __file__:
            yield frame.f_code, frame.f_lineno
        frame = frame.f_back
