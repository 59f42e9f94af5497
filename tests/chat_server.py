"""A server of chat completions on the loopback address that answers as a test says, and records what it was asked."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class ChatServer:
    """`answer` gets the body of a request and returns a text, or (status, headers, bytes or an iterator of bytes)."""

    def __init__(self, answer):
        self.asked = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.asked.append((self.path, dict(self.headers), body))
                said = answer(body)
                if isinstance(said, str):
                    said = 200, {}, json.dumps({"choices": [{"message": {"content": said}}]}).encode()
                status, headers, content = said
                self.send_response_only(status)
                pieces = [content] if isinstance(content, bytes) else content
                length = {"Content-Length": str(len(content))} if isinstance(content, bytes) else {}
                for name, value in {**length, "Connection": "close", **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                with suppress(OSError):  # who asked has hung up
                    for piece in pieces:
                        self.wfile.write(piece)
                self.close_connection = True

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def clusters(self):
        """Return the clusters that it was asked about."""
        return [json.loads(body["messages"][1]["content"]) for _, _, body in self.asked]

    def close(self):
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def chat_server(answer):
    """Yield a server that runs."""
    server = ChatServer(answer)
    try:
        yield server
    finally:
        server.close()
