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
    COUNT = 8  # models: loading takes longer than a test needs to look at it

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
        status, headers, answer = self.chat(f"model{self.COUNT - 1}")
        self.assertEqual(status, 503)
        self.assertIn("try again soon", answer["error"]["message"])
        self.assertEqual(headers["Retry-After"], "1")
        self.assertEqual(self.chat("nobody")[0], 404)
        status, _, health = get(self.url + "/health")
        self.assertEqual((status, health["status"]), (503, "loading"))
        self.assertIn(health["stage"], ("waiting", "reading", "weights", "KV cache", "ready"))
        states = {model["id"]: model["state"] for model in get(self.url + "/v1/models")[2]["data"]}
        self.assertEqual(len(states), self.COUNT)
        self.assertEqual(states[f"model{self.COUNT - 1}"], "loading")
        while get(self.url + "/health")[0] == 503:
            time.sleep(0.02)
        self.assertEqual({m["state"] for m in get(self.url + "/v1/models")[2]["data"]}, {"loaded"})
        self.assertEqual(self.chat(f"model{self.COUNT - 1}")[0], 200)
        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.process.wait(PATIENCE), 0)

    def test_an_end_while_a_model_loads_is_an_end(self):
        for end in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(end):
                self.process.send_signal(end)
                self.assertEqual(self.process.wait(PATIENCE), 0)
                said = self.process.stderr.read()
                self.assertNotIn("ready on", said)
                self.assertNotIn(f"serving model{self.COUNT - 1}", said)
            self.doCleanups()
            self.setUp()


class Refusals(unittest.TestCase):
    def refused(self, *arguments, status=2):
        ran = quern("serve", *arguments, "--port", 0)
        self.assertEqual(ran.returncode, 2, ran.stderr)
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
