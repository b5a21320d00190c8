"""A small service that keeps the report contract, or breaks promises of it, as its first argument says: their names, with a
plus between them.

It needs nothing but the standard library: the contract is not bound to a language or a framework. Three dependencies are
checked in the background, each by a thread of its own: a service (HTTP), a cache (PING) and a search index (HTTP).

    python service.py MODES PORT RATES_PORT CACHE_PORT SEARCH_PORT
"""

import json
import os
import signal
import socket
import ssl
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MODES = set(sys.argv[1].split("+"))
PORT, RATES, CACHE, SEARCH = map(int, sys.argv[2:6])

INTERVAL, TIMEOUT, FALL, RISE = 1.0, 1.0, 3, 2
RECHECK = 0.5
DEEP_PERIOD = 5.0
DRAIN = 1.5
TOKEN = os.environ["SERVICE_TOKEN"]
STARTED = time.monotonic()


class Failure(Exception):
    """A failed check: a category of the contract, and a sentence of our own."""

    def __init__(self, category, text):
        super().__init__(text)
        self.category = category


def http_check(port, timeout):
    headers = {"Rootward-Check-From": "python-service"}
    request = urllib.request.Request(f"http://127.0.0.1:{port}/readyz", headers=headers)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=timeout) as answer:
        answer.read(64 * 1024)


def cache_check(port, timeout):
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as connection:
        connection.settimeout(timeout)
        connection.sendall(b"PING\r\n")
        if not connection.recv(64).startswith(b"+PONG"):
            raise Failure("protocol", "the answer to PING is not PONG")


def explain(error):
    """Why a check failed: the category, and own words. The text of the exception stays here."""
    if isinstance(error, Failure):
        return error.category, str(error)
    reason = getattr(error, "reason", error)
    if isinstance(error, urllib.error.HTTPError):
        answer = error.read(200).decode() if "repeats" in MODES else ""
        return "http_status", f"answered {error.code} {answer}".rstrip()
    if isinstance(reason, (TimeoutError, socket.timeout)):
        return "timeout", f"timed out after {TIMEOUT * 1000:.0f} ms"
    if isinstance(reason, ConnectionRefusedError):
        return "connection_refused", "connection refused"
    if isinstance(reason, (ConnectionResetError, BrokenPipeError)):
        return "connection_reset", "the connection broke"
    return "unknown", "the check failed"


class Component:
    def __init__(self, name, kind, criticality, check, scope="shared"):
        self.name, self.kind, self.criticality, self.check, self.scope = name, kind, criticality, check, scope
        self.lock = threading.Lock()
        self.running = threading.Lock()
        self.wake = threading.Event()
        self.status = self.raw = "unknown"
        self.agreeing = self.seq = 0
        self.completed = self.since = self.latency = None
        self.category = self.error = None

    def run(self):
        """One run of the check, and what it means; whoever comes while it runs waits for that result."""
        if "serial" in MODES:
            self.running.acquire()
        elif not self.running.acquire(blocking=False):
            with self.running:
                return
        try:
            self.run_now()
        finally:
            self.running.release()

    def run_now(self):
        begun = time.monotonic()
        # A check without a limit waits for as long as the other side likes.
        timeout = None if "no_timeout" in MODES else TIMEOUT
        try:
            self.check(timeout)
            raw, category, error = "up", None, None
        except Exception as caught:  # whatever a check throws is its own failure
            raw = "down"
            category, error = explain(caught)
            if "exception_text" in MODES and category == "connection_refused":
                error = f"{type(caught).__name__}: {caught}"
        self.take(raw, category, error, time.monotonic() - begun)

    def take(self, raw, category, error, latency):
        with self.lock:
            self.seq += 1
            self.raw, self.latency, self.completed = raw, latency, time.monotonic()
            self.category, self.error = category, error
            first = self.status == "unknown"
            if raw == self.status:
                self.agreeing = 0
                return
            self.agreeing += 1
            needed = FALL if raw == "down" else RISE
            if "no_damping" in MODES and raw == "down":
                needed = 1
            if first and "first_damped" not in MODES or self.agreeing >= needed:
                self.status, self.agreeing, self.since = raw, 0, time.monotonic()

    def loop(self):
        while True:
            self.run()
            pending = self.agreeing > 0
            self.wake.wait(RECHECK if pending else INTERVAL)
            self.wake.clear()

    def entry(self):
        with self.lock:
            now = time.monotonic()
            entry = {
                "name": self.name,
                "status": self.status,
                "criticality": self.criticality,
                "kind": self.kind,
                "scope": self.scope,
                "interval_ms": round(INTERVAL * 1000),
                "timeout_ms": round(TIMEOUT * 1000),
                "gates_readiness": False,
            }
            if self.completed is None:
                return entry
            age = now - self.completed
            entry["latency_ms"] = round(self.latency * 1000, 3)
            entry["age_ms"] = int(age * 1000)
            entry["last_checked"] = (
                datetime.fromtimestamp(time.time() - age, timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            )
            entry["seq"] = self.seq
            if self.since is not None:
                entry["since_age_ms"] = int((now - self.since) * 1000)
            if self.raw != self.status:
                entry["raw_status"] = self.raw
                entry["pending"] = max(1, (FALL if self.raw == "down" else RISE) - self.agreeing)
            if "credentials" in MODES:
                entry["target"] = "redis://cache:s3cret@127.0.0.1:6379"
            if "age_of_the_check" in MODES:
                entry["age_ms"] = 0
            if self.category is not None:
                entry["error_category"], entry["error"] = self.category, self.error
            elif self.status == "down":
                entry["error_category"], entry["error"] = "unknown", "it works again, and not for long enough"
            if entry["age_ms"] > (2 * INTERVAL + TIMEOUT) * 1000 and "stale_up" not in MODES:
                entry["status"], entry["error_category"] = "unknown", "stale"
                entry["error"] = f"no result for more than {(2 * INTERVAL + TIMEOUT) * 1000:.0f} ms"
                entry["raw_status"] = self.raw
                entry.pop("pending", None)
            return entry


COMPONENTS = [
    Component("rates", "service", "hard", lambda timeout: http_check(RATES, timeout)),
    Component("cache", "redis", "soft", lambda timeout: cache_check(CACHE, timeout)),
    Component("search", "http", "soft", lambda timeout: http_check(SEARCH, timeout)),
]
# A job that ran once, at the start: its evidence grows old.
NIGHTLY = Component("nightly", "job", "informational", lambda timeout: None, scope="local")


def run_all():
    """Every check once, at the same time."""
    if "serial" in MODES:
        for component in COMPONENTS:
            component.run()
        return
    threads = [threading.Thread(target=component.run, daemon=True) for component in COMPONENTS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TIMEOUT * 3)


class Deep:
    """One run for all who ask, at most one in five seconds."""

    def __init__(self):
        self.lock = threading.Lock()
        self.began, self.over = None, None

    def ask(self):
        with self.lock:
            now = time.monotonic()
            if self.over is not None and not self.over.is_set():
                over = self.over
            elif self.began is not None and now - self.began < DEEP_PERIOD and "deep_unlimited" not in MODES:
                return DEEP_PERIOD - (now - self.began)
            else:
                self.began, self.over = now, threading.Event()
                over = self.over
                threading.Thread(target=self.work, args=(over,), daemon=True).start()
        over.wait(10)
        return None

    @staticmethod
    def work(over):
        run_all()
        over.set()


DEEP = Deep()
MISUSE = threading.Event()


DRAINING = threading.Event()


class Start:
    """Over when each check has a first result, whatever it is; and never begins again."""

    over = False

    @classmethod
    def held(cls):
        if not cls.over:
            waits = "start_waits" in MODES
            held = [c.name for c in COMPONENTS if c.seq == 0 or waits and c.status != "up"]
            if "slow_start" in MODES and time.monotonic() - STARTED < 1.5:
                held.append("warm-up")
            if held:
                return held
            cls.over = True
        return []


def drain(*_):
    """Not ready at once, and gone after a while."""
    if DRAINING.is_set():
        return
    DRAINING.set()
    if "never_ends" not in MODES:
        end = threading.Timer(DRAIN, lambda: os._exit(0))
        end.daemon = True
        end.start()


def is_down(entry):
    return entry["status"] == "down"


def effect(entry):
    status, criticality = entry["status"], entry["criticality"]
    if criticality == "informational" or status == "up":
        return None
    if status == "down":
        return "errors" if criticality == "hard" else "warnings"
    if status == "degraded" or criticality == "hard":
        return "warnings"
    return None


def is_ready(entries):
    if DRAINING.is_set() and "drain_ready" not in MODES or Start.held() and "start_is_up" not in MODES:
        return False
    if "ready_follows" in MODES:
        return not any(map(is_down, entries))
    return True


def report(entries, every=None):
    every = entries if every is None else every
    effects = {name: [entry["name"] for entry in entries if effect(entry) == name] for name in ("warnings", "errors")}
    status = "unhealthy" if effects["errors"] else "degraded" if effects["warnings"] else "healthy"
    if "always_healthy" in MODES:
        status = "healthy"
    if Start.held() and "start_is_up" not in MODES:
        status = "starting"
    return {
        "contract": "rootward/1",
        "service": "python-service",
        "instance": "python-service-1",
        "status": status,
        "uptime_s": int(time.monotonic() - STARTED),
        "ready": is_ready(every),
        "draining": DRAINING.is_set() and "drain_mute" not in MODES,
        # The only hard component is another service, and those do not count.
        "serving": True,
        "components": entries,
        **effects,
        "findings": [{"kind": "probe_misuse", "text": "a kubelet asks /health"}] if MISUSE.is_set() else [],
    }


def health_json(body):
    words = {"healthy": "pass", "degraded": "warn"}
    return {"status": words.get(body["status"], "fail"), "serviceId": body["service"], "description": body["instance"]}


def metrics(entries):
    lines = ["# TYPE rootward_component_up gauge"]
    lines += [f'rootward_component_up{{component="{entry["name"]}"}} {int(entry["status"] == "up")}' for entry in entries]
    return "\n".join([*lines, "# EOF", ""])


class BadQuery(Exception):
    """What is wrong with a query: a code, and a sentence."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code, self.message = code, message


def selected(entries, query):
    """Those that were asked for, and whether that is less than all."""
    if "query_ignored" in MODES:
        return entries, False
    if len(query) > 4096:
        raise BadQuery(414, "the query has more than 4096 bytes")
    parts = [part.partition("=") for part in query.split("&")]
    asked = {key: [urllib.parse.unquote(value) for name, _, value in parts if name == key] for key in ("component", "exclude")}
    names = [entry["name"] for entry in entries]
    unknown = [name for key in asked for name in asked[key] if name not in names]
    if unknown:
        raise BadQuery(400, f"there is no such component; there are: {', '.join(names)}")
    shown = [
        entry
        for entry in entries
        if entry["name"] not in asked["exclude"] and (not asked["component"] or entry["name"] in asked["component"])
    ]
    if not shown:
        raise BadQuery(400, "nothing is left of what was asked for")
    return shown, any(asked.values())


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, code, body, kind="application/json", headers=()):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(code)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("content-type", kind)
        if "cacheable" not in MODES:
            self.send_header("cache-control", "no-store")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def probe(self, name, condition, code, body):
        """As JSON, or in words for people."""
        if "verbose" not in self.path.partition("?")[2].split("&") or "query_ignored" in MODES:
            return self.answer(code, body)
        good = code == 200
        text = f"[{'+' if good else '-'}]{condition} {'ok' if good else 'failed'}\n{name} check {'passed' if good else 'failed'}\n"
        return self.answer(code, text.encode(), "text/plain; charset=utf-8")

    def problem(self, code, message, headers=()):
        self.answer(code, {"error": {"message": message}}, headers=headers)

    def is_known(self):
        if "authorization" in self.headers:
            return self.headers["authorization"] == f"Bearer {TOKEN}"
        passed_on = any(name.lower().startswith(("x-forwarded", "forwarded", "via")) for name in self.headers)
        return "open" in MODES or not passed_on and self.client_address[0] == "127.0.0.1"

    def do_GET(self):
        path = self.path.split("?")[0]
        entries = [component.entry() for component in (*COMPONENTS, NIGHTLY)]
        if path == "/livez":
            if "live_follows" in MODES and any(map(is_down, entries)):
                return self.answer(503, {"alive": False, "reason": "a dependency is down"})
            if "live_when_started" in MODES and Start.held() or "drain_dies" in MODES and DRAINING.is_set():
                return self.probe("livez", "process", 503, {"alive": False, "reason": "not in service"})
            return self.probe("livez", "process", 200, {"alive": True})
        if path in ("/readyz", "/healthz"):
            if is_ready(entries):
                return self.probe("readyz", "service", 200, {"ready": True, "reasons": [], "serving": True})
            return self.probe("readyz", "service", 503, {"ready": False, "reasons": ["not in service"], "serving": True})
        if path == "/startupz":
            held = Start.held()
            return self.probe("startupz", "startup", 503 if held else 200, {"started": not held, "held": held})
        if path == "/status":
            words = {"healthy": "up", "degraded": "degraded", "unhealthy": "down", "starting": "starting"}
            word = words[report(entries)["status"]]
            return self.answer(503 if word in ("down", "starting") else 200, {"status": word})
        if path in ("/health", "/health/deep", "/metrics"):
            return self.detailed(path)
        return self.problem(404, "nothing is served here")

    do_HEAD = do_GET

    def detailed(self, path):
        if "rootward-check-from" in self.headers and path != "/metrics" and "walk" not in MODES:
            return self.problem(508, "a check of another service must ask /readyz")
        if not self.is_known():
            return self.problem(401, "known callers only", [("www-authenticate", "Bearer")])
        if self.headers.get("user-agent", "").startswith("kube-probe/"):
            MISUSE.set()
        if path == "/health/deep":
            wait = DEEP.ask()
            if wait is not None:
                return self.problem(429, "all checks run at most once in 5 s", [("retry-after", str(int(wait) + 1))])
        if path == "/health" and "check_per_request" in MODES:
            run_all()
        entries = [component.entry() for component in (*COMPONENTS, NIGHTLY)]
        if path == "/metrics":
            return self.answer(200, metrics(entries).encode(), "application/openmetrics-text; version=1.0.0")
        try:
            shown, in_part = selected(entries, self.path.partition("?")[2])
        except BadQuery as bad:
            return self.problem(bad.code, bad.message)
        body = report(shown, entries)
        if in_part:
            body["findings"].append({"kind": "selection", "text": "these are not all components"})
        code = 503 if body["status"] in ("unhealthy", "starting") else 200
        if self.headers.get("accept", "") == "application/health+json":
            return self.answer(code, health_json(body), "application/health+json")
        return self.answer(code, body)

    def do_OPTIONS(self):
        self.send_response(204)
        self.send_header("allow", "GET, HEAD, OPTIONS")
        self.send_header("cache-control", "no-store")
        self.end_headers()

    def do_POST(self):
        self.problem(405, "only GET, HEAD and OPTIONS", [("allow", "GET, HEAD, OPTIONS")])


class Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True


signal.signal(signal.SIGTERM, drain)
NIGHTLY.run()
for component in COMPONENTS:
    threading.Thread(target=component.loop, daemon=True).start()
server = Server(("127.0.0.1", PORT), Handler)
if "SERVICE_TLS" in os.environ:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(os.environ["SERVICE_TLS"])
    # The handshake is made by the thread of the connection.
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
server.serve_forever()
