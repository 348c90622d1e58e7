"""`quern serve` from its first moment to its last: while models load, when it is ended, when it is asked wrongly."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request

import quern_program
from quern_program import BIN, PATIENCE, quern


def get(url, body=None):
    """(status, headers, JSON)"""
    request = urllib.request.Request(url, data=body and json.dumps(body).encode())
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.status, answer.headers, json.load(answer)
    except urllib.error.HTTPError as answer:
        return answer.code, answer.headers, json.load(answer)


class Loading(unittest.TestCase):
    COUNT = 8  # models: the last one comes late

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="quern-system-")
        self.addCleanup(folder.cleanup)
        self.models = []
        for index in range(self.COUNT):
            self.models.append(os.path.join(folder.name, f"model{index}.gguf"))
            os.symlink(quern_program.starter(), self.models[-1])
        self.process = subprocess.Popen(
            [BIN, "serve", *self.models, "--port", "0", "--ctx", "256", "--data-dir", folder.name],
            stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.process.stderr.close)
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)
        first = self.process.stderr.readline()
        self.url = re.search(r"listening on (http://\S+),", first).group(1)

    def chat(self, model):
        return get(self.url + "/v1/chat/completions",
                   {"model": model, "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1})

    def test_clients_are_told_the_truth_meanwhile(self):
        ends = time.monotonic() + PATIENCE
        isReady = False
        while not isReady:
            self.assertLess(time.monotonic(), ends)
            status, headers, answer = self.chat(f"model{self.COUNT - 1}")
            if status != 200:
                self.assertEqual((status, headers["Retry-After"]), (503, "1"))
                self.assertIn("try again soon", answer["error"]["message"])
            self.assertEqual(self.chat("nobody")[0], 404)
            ids = [model["id"] for model in get(self.url + "/v1/models")[2]["data"]]
            self.assertEqual(sorted(ids), [f"model{index}" for index in range(self.COUNT)])
            status, headers, health = get(self.url + "/health")
            isReady = status == 200
            if not isReady:
                self.assertEqual((status, headers["Retry-After"], health["status"]), (503, "1", "loading"))
                self.assertIn(health["stage"], ("waiting", "reading", "weights", "KV cache", "ready"))
        self.assertEqual({m["state"] for m in get(self.url + "/v1/models")[2]["data"]}, {"loaded"})
        self.assertEqual(self.chat(f"model{self.COUNT - 1}")[0], 200)
        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.process.wait(PATIENCE), 0)

    def test_an_end_right_after_the_start_is_an_end(self):
        for end in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(end):
                self.process.send_signal(end)
                self.assertEqual(self.process.wait(PATIENCE), 0)
                self.assertIn("ending; running requests", self.process.stderr.read())
            self.doCleanups()
            self.setUp()


class Refusals(unittest.TestCase):
    def refused(self, *arguments, status=2):
        ran = quern("serve", *arguments, "--port", 0)
        self.assertEqual(ran.returncode, status, ran.stderr)
        self.assertNotIn(b"serving", ran.stderr)
        return ran.stderr.decode()

    def test_what_cannot_be_served_is_refused_before_anything_is_loaded(self):
        model = quern_program.starter()
        self.assertIn("would be served twice", self.refused(model, model))
        self.assertIn("needs a key", self.refused(model, "--host", "0.0.0.0"))
        self.assertIn("ctx is 100000000; it must be from 1 to 8192", self.refused(model, "--ctx", 100000000))
        small = quern_program.golden("models/gemma3")
        self.assertIn("gemma3: ctx is 512; it must be from 1 to 256", self.refused(model, small, "--ctx", 512))
        with tempfile.TemporaryDirectory(prefix="quern-system-") as folder:
            shutil.copytree(small, folder, dirs_exist_ok=True)
            config = pathlib.Path(folder, "config.json")
            config.write_text(re.sub(r'"model_type": *"\w+"', '"model_type": "windmill"', config.read_text()))
            self.assertIn("windmill", self.refused(model, folder, status=3))


if __name__ == "__main__":
    quern_program.main()
