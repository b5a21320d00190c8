"""A small service in Python, of the standard library alone. The sidecar beside it (agent.yaml) does the probes.

What it does for that: a cheap endpoint of its own that says that it lives, a file that names its process, and a worker
that touches a file after each piece of work. On SIGTERM it answers on for as long as others need to hear of it.
"""

import os
import signal
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ADDRESS = os.environ.get("GREETER_ADDRESS", "127.0.0.1")
PORT = int(os.environ.get("GREETER_PORT", "8080"))
RUN = Path(os.environ.get("GREETER_RUN", "/run/greeter"))
DRAIN = float(os.environ.get("GREETER_DRAIN_SECONDS", "10"))
WORK = float(os.environ.get("GREETER_WORK_SECONDS", "1"))

ended = threading.Event()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # A client that says nothing keeps its connection no longer than this, also at the end.
    timeout = 5

    def do_GET(self):
        if self.path == "/ping":
            # Would only a restart help? Nothing is asked here that a restart does not repair.
            self.answer(200, b"pong\n")
        elif self.path == "/hello":
            self.answer(200, b"hello\n")
        else:
            self.answer(404, b"not found\n")

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Probes are not worth a line each."""


def work():
    """A worker that says after each piece of work that it goes on."""
    while not ended.is_set():
        (RUN / "worker").touch()
        ended.wait(WORK)


def main():
    RUN.mkdir(parents=True, exist_ok=True)
    server = ThreadingHTTPServer((ADDRESS, PORT), Handler)
    # What is in flight at the end is finished.
    server.daemon_threads = False
    pid = RUN / "pid"
    pid.write_text(f"{os.getpid()}\n")
    threading.Thread(target=work, daemon=True).start()

    def drain(*_):
        # The sidecar has the same signal and is not ready from now on; requests come until everybody knows.
        timer = threading.Timer(DRAIN, server.shutdown)
        timer.daemon = True
        timer.start()

    signal.signal(signal.SIGTERM, drain)
    server.serve_forever()
    server.server_close()
    ended.set()
    pid.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
