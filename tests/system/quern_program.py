"""The built programs, as tests drive them."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

BIN = os.environ["QUERN_BIN"]
CI = os.environ.get("CI") == "true"
SOURCE = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = pathlib.Path(os.environ.get("QUERN_GOLDEN", SOURCE.parent / "shared" / "golden"))
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
PATIENCE = 120  # seconds: machines under test are busy


def quern(*arguments, stdin=b"", timeout=PATIENCE, data_dir=None):
    """Runs `quern` to its end; bytes in, bytes out."""
    command = [BIN, *map(str, arguments)]
    if data_dir:
        command += ["--data-dir", str(data_dir)]
    return subprocess.run(command, input=stdin, capture_output=True, timeout=timeout)


def starter():
    """The path of the starter model, or a skip with a reason (a failure under CI)."""
    return _model("SmolLM2-135M-Instruct", None, "quern models pull starter")


def fetched(name):
    """The path of a model that ./dev test fetched for tests alone, or a skip with a reason."""
    return _model(name, CACHE / "quern" / "testing", "./dev test fetches it")


def _model(name, data_dir, remedy):
    listed = quern("models", "list", "--json", data_dir=data_dir)
    for model in json.loads(listed.stdout or b"{}").get("models", []):
        if model["name"].startswith(name):
            return model["path"]
    if CI:
        raise AssertionError(f"the model {name} is missing under CI ({remedy})")
    raise unittest.SkipTest(f"no model {name} ({remedy})")


def golden(name):
    for folder in (GOLDEN, SOURCE / "tests" / "data" / "golden"):
        if (folder / name).exists():
            return folder / name
    if CI:
        raise AssertionError(f"golden data {name} is missing under CI")
    raise unittest.SkipTest(f"no golden data {name} (set QUERN_GOLDEN)")


class Serve:
    """`quern serve` on a free port, with a data folder of its own."""

    def __init__(self, *models, arguments=()):
        self.folder = tempfile.TemporaryDirectory(prefix="quern-system-")
        self.log = open(os.path.join(self.folder.name, "log"), "w+b")
        self.process = subprocess.Popen(
            [BIN, "serve", *models, "--port", "0", "--data-dir", self.folder.name, *arguments],
            stdout=self.log, stderr=self.log)
        self.url = self._wait_ready()

    def _wait_ready(self):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = re.search(r"ready on (http://\S+)/v1", self.text())
            if found:
                return found.group(1)
            if self.process.poll() is not None:
                raise AssertionError(f"quern serve ended with {self.process.returncode}: {self.text()}")
            time.sleep(0.02)
        raise AssertionError(f"quern serve is not ready: {self.text()}")

    def text(self):
        self.log.flush()
        return pathlib.Path(self.log.name).read_text()

    def stop(self):
        """Ends it as a service manager does; returns its exit status."""
        if self.process.poll() is None:
            self.process.terminate()
        status = self.process.wait(timeout=PATIENCE)
        self.log.close()
        self.folder.cleanup()
        return status

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def main():
    """Runs the calling module's tests. A run that only skipped says so with 77, which ctest knows."""
    result = unittest.main(module="__main__", exit=False, verbosity=2).result
    if not result.wasSuccessful():
        sys.exit(1)
    if result.testsRun == 0 or len(result.skipped) == result.testsRun:
        for _, reason in result.skipped:
            print("skipped:", reason)
        sys.exit(77)
