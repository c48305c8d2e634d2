"""A server of one file, and a payload."""

import http.server
import re
import threading

import pytest

from mezzotint_package.archives import Member


@pytest.fixture
def served():
    """Serve bytes as wheel.whl, with or without Range; returns the URL."""
    servers = []

    def serve(data, parts=True):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_HEAD(self):
                self.do_GET()

            def do_GET(self):
                if not self.path.endswith("wheel.whl"):
                    return self.send_error(404)
                asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", "") if parts else "")
                body = data[int(asked[1]) : int(asked[2]) + 1] if asked else data
                self.send_response(206 if asked else 200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(body)
                return None

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}/wheel.whl"

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def files():
    """The smallest payload."""
    return {"uv": Member(data=b"\x7fELF", program=True), "payload.json": Member(data=b'{"python": "3.12"}')}
