"""Wrong command lines and unusable files, over all commands: each ends with the exit status that the
table in the README promises, at once, and with a sentence."""
import json
import os
import pathlib
import re
import shlex
import socket
import subprocess
import tempfile
import unittest

import quern_program
from quern_program import BIN, SOURCE, golden, quern

USAGE, NO_MODEL, DISK = 2, 3, 5

# Commands that take a MODEL, and what else they need.
WITH_MODEL = {
    "run {}": "hi", "chat {}": "", "embed {}": "x", "rerank {}": "q d", "serve {} --port 0": "",
    "models info {}": "", "models import {}": "", "models link {}": "", "models rm {}": "",
    "bench prefill {}": "", "bench decode {}": "", "bench serve {}": "", "tokenize {}": "x",
    "render {} --messages MESSAGES": "", "verify {} --expected EXPECTED": "",
}
KEEP_ONE_FOR_THEIR_VERDICT = ("render", "verify")
MISSING = ["", "run", "embed", "rerank", "rerank x", "serve", "models", "models info", "models import", "models pull",
           "models link", "models rm", "models nonsense", "bench", "bench prefill", "bench decode", "bench serve",
           "bench nonsense", "tokenize", "render", "render x", "verify", "verify x", "nonsense", "--data-dir"]
NUMBERS = {
    "run x hi": ["--logprobs", "--max-tokens", "--temperature", "--top-k", "--top-p", "--min-p", "--seed", "--ctx",
                 "--kv-memory", "--max-running", "--threads"],
    "chat x": ["--max-tokens", "--temperature", "--ctx", "--kv-memory", "--max-running", "--threads"],
    "embed x y": ["--dimensions", "--truncate", "--ctx"],
    "serve x": ["--port"],
    "bench prefill x": ["-n", "-r"],
    "bench serve x": ["-n", "-c"],
    "verify x --expected y": ["--chunk", "--batch", "--threads"],
}
NO_NUMBERS = ["", "abc", "-1", "1e400", "99999999999999999999", "0x10", "nan", "1.5x"]


class CommandLine(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory(prefix="quern-lines-")
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        (cls.folder / "empty.gguf").touch()
        (cls.folder / "text.gguf").write_text("hello\n")
        (cls.folder / "text.txt").write_text("hello\n")
        (cls.folder / "broken.gguf").write_bytes(b"GGUF\x03\0\0\0" + b"\xff" * 64)
        (cls.folder / "folder").mkdir()
        (cls.folder / "hf").mkdir()
        (cls.folder / "hf" / "config.json").write_text("{")
        os.mkfifo(cls.folder / "pipe")
        os.mkfifo(cls.folder / "pipe.gguf")
        os.mkfifo(cls.folder / "pipe.jinja")
        (cls.folder / "dangling.gguf").symlink_to("/none")
        with socket.socket(socket.AF_UNIX) as unix:
            unix.bind(str(cls.folder / "socket"))
        (cls.folder / "messages.json").write_text('[{"role": "user", "content": "hi"}]')
        (cls.folder / "expected.json").write_text('{"cases": [{"name": "a", "ids": [1], "last_logits": [1.0]}]}')
        cls.no_models = [str(cls.folder / name) for name in (
            "none.gguf", "empty.gguf", "text.gguf", "text.txt", "broken.gguf", "folder", "hf", "pipe", "pipe.gguf",
            "dangling.gguf", "socket")] + ["nosuch", "/dev/zero", "/dev/null", "/dev/random"]

    def words(self, line, *names):
        line = line.replace("MESSAGES", str(self.folder / "messages.json"))
        line = line.replace("EXPECTED", str(self.folder / "expected.json"))
        names = list(names)
        return [names.pop(0) if word == "{}" else word for word in shlex.split(line)]

    def ends(self, status, *words, stdin=b"hi"):
        """Runs it to its end and demands this status and, unless it is 0, a sentence."""
        ran = quern(*words, stdin=stdin, timeout=quern_program.PATIENCE / 4, data_dir=self.folder / "data")
        with self.subTest(words):
            self.assertEqual(ran.returncode, status, ran.stderr)
            self.assertEqual(bool(ran.stderr.strip()), status != 0)
            self.assertNotIn(b"an error of ours", ran.stderr)
        return ran

    def test_what_is_no_model(self):
        for line, rest in WITH_MODEL.items():
            status = USAGE if line.startswith(KEEP_ONE_FOR_THEIR_VERDICT) else NO_MODEL
            for model in self.no_models:
                self.ends(status, *self.words(line, model), *rest.split())
            self.ends(USAGE, *self.words(line, ""), *rest.split())

    def test_what_is_no_adapter(self):
        model = golden("models/llama")
        for adapter in self.no_models:
            self.ends(NO_MODEL, "run", model, "hi", "--lora", adapter)
        self.ends(USAGE, "run", model, "hi", "--lora", "")

    def test_a_file_that_may_not_be_read(self):
        if os.geteuid() == 0:
            self.skipTest("root may read everything")
        closed = self.folder / "closed.gguf"
        closed.write_bytes(b"GGUF")
        closed.chmod(0)
        for line, rest in WITH_MODEL.items():
            if not line.startswith((*KEEP_ONE_FOR_THEIR_VERDICT, "models rm")):
                self.ends(DISK, *self.words(line, closed), *rest.split())

    def test_what_is_missing_or_unknown(self):
        for line in MISSING:
            ran = subprocess.run([BIN, *line.split()], capture_output=True, timeout=quern_program.PATIENCE)
            self.assertEqual(ran.returncode, USAGE, line)
            self.assertTrue(ran.stderr.strip() or ran.stdout.strip(), line)
        for line, rest in {**WITH_MODEL, "models list": "", "models pull starter": "", "doctor": ""}.items():
            for switch in ("--nonsense", "-Z"):
                self.ends(USAGE, *self.words(line, "x"), *rest.split(), switch)

    def test_what_is_no_number(self):
        for line, switches in NUMBERS.items():
            for switch in switches:
                for value in NO_NUMBERS:
                    ran = self.ends(USAGE, *line.split(), switch, value)
                    self.assertIn(value.encode(), ran.stderr)

    def test_numbers_that_this_model_cannot_have(self):
        model = quern_program.starter()
        for switch, value in (("--ctx", "100000000"), ("--ctx", str(2**63 - 1)), ("--threads", "100000"),
                              ("--max-running", "1000000"), ("--max-running", str(2**63 - 1))):
            for line in ("run {} hi", "chat {}"):
                self.ends(USAGE, *self.words(line, model), switch, value)
        for line in ("run {} hi", "chat {}"):
            self.ends(USAGE, *self.words(line, model), "--max-tokens", str(2**31 - 1))
            self.ends(4, *self.words(line, model), "--kv-memory", "1000000G")

    def test_what_a_model_cannot_do(self):
        model = quern_program.starter()
        self.ends(NO_MODEL, "embed", model, "x")
        self.ends(USAGE, "embed", model, "x", "--pooling", "nonsense")
        self.ends(NO_MODEL, "rerank", model, "q", "d")
        self.ends(NO_MODEL, "run", model, "hi", "--suffix", "x")
        self.ends(USAGE, "run", model, "")
        self.ends(USAGE, "run", model, "hi", "--stop", "")
        self.ends(USAGE, "run", model, "--raw", stdin=b"hi " * 100_000)

    def test_files_that_commands_read(self):
        template = self.folder / "t.jinja"
        template.write_text("{{ messages[0].content }}")
        messages = self.folder / "messages.json"
        wrong = ["", "/none", self.folder, "/dev/zero", self.folder / "text.txt", "/dev/null"]
        for file in wrong:
            self.ends(USAGE, "render", template, "--messages", file)
            self.ends(USAGE, "render", template, "--messages", messages, "--tools", file)
            self.ends(USAGE, "verify", golden("models/llama"), "--expected", file)
        for kwargs in ("x", "[1]", "{"):
            self.ends(USAGE, "render", template, "--messages", messages, "--kwargs", kwargs)
        self.ends(USAGE, "render", template, "--messages", messages, "--now", "yesterday")
        for words in (["run", "x"], ["tokenize", golden("tokenizers-gguf/gpt-2.gguf")], ["embed", "x"], ["rerank", "x", "q"]):
            with open("/dev/zero", "rb") as endless:
                ran = subprocess.run([BIN, *map(str, words)], stdin=endless, capture_output=True,
                                     timeout=quern_program.PATIENCE)
            self.assertEqual(ran.returncode, USAGE, ran.stderr)
            self.assertIn(b"256 MiB", ran.stderr)

    def test_where_nothing_can_be_written(self):
        model = golden("models/llama")
        self.ends(DISK, "models", "import", model, "-q", "Q8_0", "-o", "/no/such/folder/x.gguf")
        self.ends(6, "models", "import", model, "-q", "Q8_0", "-o", self.folder / "text.gguf")
        for quantization in ("", "NOPE"):
            self.ends(USAGE, "models", "import", model, "-q", quantization)
        for folder, status in (("", USAGE), ("/dev/null", DISK), (self.folder / "text.txt" / "x", DISK)):
            ran = quern("models", "list", "--data-dir", folder)
            self.assertEqual(ran.returncode, status, ran.stderr)
        ran = subprocess.run([BIN, "models", "list"], env={}, capture_output=True)
        self.assertEqual(ran.returncode, USAGE, ran.stderr)

    def test_a_folder_may_end_in_a_slash(self):
        ran = quern("bench", "decode", f"{golden('models/llama')}/", "-n", 2, "-r", 1, "--json")
        self.assertEqual(json.loads(ran.stdout)["conditions"]["model"], "llama", ran.stderr)


class Table(unittest.TestCase):
    def test_readme_help_and_header_agree(self):
        readme = dict(re.findall(r"^\| (\d+) \| (.*) \|$", (SOURCE / "README.md").read_text(), re.M))
        shown = quern("--help").stdout.decode().partition("Exit status:\n")[2]
        self.assertEqual(dict(re.findall(r"^ +(\d+) +(.*)$", shown, re.M)), readme)
        header = (SOURCE / "app" / "cli" / "exit_codes.h").read_text()
        self.assertEqual(sorted(re.findall(r"int kExit\w+ = (\d+);", header)), sorted(readme))


if __name__ == "__main__":
    quern_program.main()
