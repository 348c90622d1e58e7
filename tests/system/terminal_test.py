"""`quern` as a person and as a script use it."""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import termios
import unittest

import pexpect
import quern_program
from quern_program import BIN, golden, quern


class Scripts(unittest.TestCase):
    def chat_that_was_answered(self, model, folder):
        """A chat in which "Hello" was said and answered, and that waits for more."""
        chat = subprocess.Popen([BIN, "chat", model, "--max-tokens", "4", "--data-dir", folder],
                                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(chat.kill)
        chat.stdin.write(b"Hello\n")
        chat.stdin.flush()
        self.assertTrue(any(b"TTFT" in line for line in iter(chat.stderr.readline, b"")))
        return chat

    def test_run(self):
        model = quern_program.starter()
        ran = quern("run", model, "What is the capital of France?", "--temperature", 0, "--max-tokens", 32,
                    "--activations", "f32")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn(b"Paris", ran.stdout)
        self.assertRegex(ran.stderr.decode(), r"tok/s · \d+ tok · TTFT \d+ ms · prefix hit 0 % · stop: eos")

    def test_run_json_is_exact_and_repeatable(self):
        model = quern_program.starter()
        arguments = ("run", model, "--raw", "--json", "--seed", 5, "--max-tokens", 8, "--logprobs", 2)
        first = quern(*arguments, stdin=b"Once upon a time")
        reply = json.loads(first.stdout)
        self.assertEqual(len(reply["tokens"]), 8)
        self.assertEqual(len(reply["logprobs"][0]["top"]), 2)
        self.assertEqual(reply["finish_reason"], "length")
        self.assertEqual(json.loads(quern(*arguments, stdin=b"Once upon a time").stdout)["tokens"], reply["tokens"])

    def test_exit_codes(self):
        self.assertEqual(quern("run", "/no/such.gguf", "x").returncode, 3)
        self.assertEqual(quern("nonsense").returncode, 2)
        self.assertEqual(quern("run").returncode, 2)
        self.assertEqual(quern("run", "x", "y", "--top-p", "9").returncode, 2)
        with tempfile.NamedTemporaryFile(suffix=".gguf") as broken:
            broken.write(b"GGUF\x03\0\0\0" + b"\xff" * 64)
            broken.flush()
            ran = quern("run", broken.name, "x")
            self.assertEqual(ran.returncode, 3)
            self.assertIn(b"quern: ", ran.stderr)
        self.assertEqual(quern("--help").returncode, 0)
        self.assertEqual(quern("doctor").returncode, 0)

    def test_a_chat_that_asks_for_more_than_its_context_is_told_what_to_change(self):
        with tempfile.TemporaryDirectory() as folder:
            said = quern("chat", quern_program.starter(), "--ctx", 96, "--max-tokens", 200, stdin=b"Hi\n",
                         data_dir=folder)
        self.assertEqual(said.returncode, 2, said.stderr)
        self.assertIn(b"more than the context of 96 tokens", said.stderr)
        self.assertIn(b"smaller --max-tokens", said.stderr)
        self.assertNotIn(b"/new", said.stderr)

    def test_a_damaged_file_of_chats_is_kept_and_a_new_one_is_begun(self):
        model = quern_program.starter()
        with tempfile.TemporaryDirectory() as folder:
            data = pathlib.Path(folder)
            (data / "quern.db").write_bytes(b"noise" * 1000)
            (data / "settings.json").write_text("{")
            examined = quern("doctor", data_dir=data)
            self.assertEqual(examined.returncode, 1)
            self.assertRegex(examined.stdout.decode(), r"bad +settings +\S+settings\.json is not a JSON")
            self.assertRegex(examined.stdout.decode(), r"bad +conversations +\S+quern\.db is damaged")
            self.assertEqual((data / "quern.db").read_bytes(), b"noise" * 1000, "doctor changes nothing")
            said = quern("chat", model, "--max-tokens", 4, stdin=b"Hello\n", data_dir=data)
            self.assertEqual(said.returncode, 0, said.stderr)
            self.assertIn(b"quern.db.damaged", said.stderr)
            self.assertEqual((data / "quern.db.damaged").read_bytes(), b"noise" * 1000)
            listed = quern("chat", model, stdin=b"/list\n", data_dir=data)
            self.assertIn(b"Hello", listed.stderr)
            self.assertNotIn(b"damaged", listed.stderr)

    def test_another_program_in_the_same_conversation_leaves_this_one_its_branch(self):
        model = quern_program.starter()
        with tempfile.TemporaryDirectory() as folder:
            data = pathlib.Path(folder)
            here = self.chat_that_was_answered(model, folder)
            there = quern("chat", model, "--resume", "--max-tokens", 4, stdin=b"There\n", data_dir=data)
            self.assertEqual(there.returncode, 0, there.stderr)
            here.communicate(b"/again\nHere\n", timeout=quern_program.PATIENCE)
            self.assertEqual(here.returncode, 0)
            with contextlib.closing(sqlite3.connect(data / "quern.db")) as database:
                tree = database.execute("SELECT id, parent, role, text FROM messages ORDER BY id").fetchall()
            said = {text: parent for _, parent, role, text in tree if role == "user"}
            hello, first, _, _, again = (row[0] for row in tree[:5])
            self.assertEqual(said["There"], first)
            self.assertEqual(tree[4][1], hello, "the reply that was seen here is answered again")
            self.assertEqual(said["Here"], again)

    def test_a_conversation_that_another_program_removed_is_begun_anew(self):
        model = quern_program.starter()
        with tempfile.TemporaryDirectory() as folder:
            here = self.chat_that_was_answered(model, folder)
            with contextlib.closing(sqlite3.connect(pathlib.Path(folder, "quern.db"))) as database, database:
                database.execute("UPDATE conversations SET deleted_ms = 1")
            _, told = here.communicate(b"Lost\nAgain\n/list\n", timeout=quern_program.PATIENCE)
            self.assertIn(b"it was removed by another program", told)
            self.assertIn(b"  1  Again", told)

    def test_a_chat_without_a_data_folder_is_not_saved_and_says_so(self):
        model = quern_program.starter()
        with tempfile.NamedTemporaryFile() as file:
            data = pathlib.Path(file.name) / "data"
            said = quern("chat", model, "--max-tokens", 4, stdin=b"Hello\n/list\n", data_dir=data)
            self.assertEqual(said.returncode, 0, said.stderr)
            self.assertIn(f"{data} cannot be written".encode(), said.stderr)
            self.assertIn(b"  1  Hello", said.stderr)
            examined = quern("doctor", data_dir=data)
            self.assertEqual(examined.returncode, 1)
            self.assertIn(b"bad   data folder", examined.stdout)

    def test_output_that_cannot_be_written_is_a_failure(self):
        vocabulary = golden("tokenizers-gguf/gpt-2.gguf")
        for arguments in (["models", "list", "--json"], ["tokenize", vocabulary, "--ids", "hello"], ["--help"],
                          ["models", "info", vocabulary]):
            with open("/dev/full", "wb") as full:
                ran = subprocess.run([BIN, *map(str, arguments)], stdout=full, stderr=subprocess.PIPE)
            self.assertEqual(ran.returncode, 5, arguments)
            self.assertIn(b"could not be written", ran.stderr)

    def test_info_reads_a_chat_template_as_a_chat_does(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(golden("models/qwen3"), folder, dirs_exist_ok=True)
            for source, said in (("{{ messages }}", "chat template  yes"), ("{% if", "chat template  cannot be used")):
                pathlib.Path(folder, "chat_template.json").write_text(json.dumps({"chat_template": source}))
                self.assertIn(said, quern("models", "info", folder).stdout.decode())

    def test_input_that_cannot_be_read_is_a_failure(self):
        vocabulary = golden("tokenizers-gguf/gpt-2.gguf")
        folder = os.open("/", os.O_RDONLY)
        self.addCleanup(os.close, folder)
        for arguments in (["tokenize", vocabulary], ["run", vocabulary], ["embed", vocabulary], ["rerank", vocabulary, "q"]):
            ran = subprocess.run([BIN, *map(str, arguments)], stdin=folder, capture_output=True)
            self.assertEqual(ran.returncode, 2, ran.stderr)
            self.assertIn(b"standard input cannot be read", ran.stderr)

    def test_what_is_wrong_with_the_command_line_is_named(self):
        self.assertIn(b"no command 'nonsense'", quern("nonsense").stderr)
        self.assertIn(b"--data-dir", quern("models", "list", "--data-dir", "").stderr)
        self.assertIn(b"no prompt", quern("run", "any.gguf").stderr)
        for switch, value in (("--seed", "-1"), ("--max-tokens", "0"), ("--temperature", "nan"), ("--kv-memory", "nan")):
            ran = quern("run", "any.gguf", "x", switch, value)
            self.assertEqual(ran.returncode, 2, switch)
            self.assertIn(value.encode(), ran.stderr)
        ran = quern("serve", "any.gguf", "--port", "0", "--api-key", "")
        self.assertNotEqual(ran.returncode, 0)
        self.assertIn(b"API key must not be empty", ran.stderr)
        # The prompt stands behind a switch that may come several times.
        self.assertIn(b"any.gguf", quern("run", "any.gguf", "--stop", "x", "the prompt").stderr)

    def test_names_cannot_steer_the_terminal(self):
        result = quern("run", "no\x1b[2Jsuch\x9b31m\rmodel.gguf", "hi")
        self.assertEqual(result.returncode, 3)
        for control in (b"\x1b", b"\r", "\x9b".encode()):
            self.assertNotIn(control, result.stderr)
        self.assertIn(b"\\x1b[2Jsuch", result.stderr)

    def test_a_key_that_is_empty_is_not_no_key(self):
        ran = subprocess.run([BIN, "serve", "any.gguf", "--port", "0"], env={**os.environ, "QUERN_API_KEY": ""},
                             capture_output=True, timeout=quern_program.PATIENCE)
        self.assertNotEqual(ran.returncode, 0)
        self.assertIn(b"API key must not be empty", ran.stderr)

    def test_a_taken_port_names_its_holder(self):
        model = quern_program.starter()
        with quern_program.Serve(model, arguments=["--ctx", "256"]) as serve:
            port = serve.url.rsplit(":", 1)[1]
            ran = quern("serve", model, "--port", port)
            self.assertEqual(ran.returncode, 6)
            self.assertIn(b"quern (process", ran.stderr)

    def test_tokenize(self):
        vocabulary = golden("tokenizers-gguf/llama-bpe.gguf")
        texts = (vocabulary.with_suffix(".inp")).read_bytes().split(b"\n__ggml_vocab_test__\n")
        wanted = (vocabulary.with_suffix(".out")).read_text().splitlines()
        for text, ids in list(zip(texts, wanted))[:12]:
            ran = quern("tokenize", vocabulary, "--ids", stdin=text)
            self.assertEqual(ran.stdout.decode().split(), ids.split(), text)

    def test_render(self):
        expected = json.loads((golden("chat-templates") / "expected.json").read_text())
        for name in ("Qwen-Qwen2.5-7B-Instruct.jinja", "google-gemma-4-31B-it-interleaved.jinja",
                     "mistralai-Mistral-Nemo-Instruct-2407.jinja"):
            for case, want in expected["expected"][name].items():
                conversation = expected["conversations"][case]
                with tempfile.TemporaryDirectory() as folder:
                    arguments = []
                    for key in ("messages", "tools"):
                        if conversation.get(key) is not None:
                            path = os.path.join(folder, key + ".json")
                            with open(path, "w") as file:
                                json.dump(conversation[key], file)
                            arguments += ["--" + key, path]
                    if conversation.get("kwargs"):
                        arguments += ["--kwargs", json.dumps(conversation["kwargs"])]
                    ran = quern("render", golden("chat-templates") / "templates" / name, *arguments,
                                "--bos", "<|BOS|>", "--eos", "<|EOS|>", "--now", "2026-01-15T12:00:00")
                if "error" in want:
                    self.assertEqual(ran.returncode, 1, (name, case))
                    self.assertTrue(ran.stderr.strip(), (name, case))
                else:
                    self.assertEqual(ran.returncode, 0, (name, case, ran.stderr))
                    self.assertEqual(ran.stdout.decode(), want["text"], (name, case))
        self.assertEqual(quern("render", golden("chat-templates") / "templates" / name, "--messages", "/none").returncode, 2)

    def test_verify(self):
        for name in ("llama", "gemma3"):
            folder = golden("models") / name
            ran = quern("verify", folder, "--expected", folder / "expected.json", "--chunk", 3, "--batch", 3,
                        "--threads", 2, "--prefix")
            self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)


class Terminal(unittest.TestCase):
    """A pseudo-terminal, as a person has it."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="quern-terminal-")
        self.addCleanup(self.folder.cleanup)

    def chat(self, *more, ctx=2048):
        child = pexpect.spawn(BIN, ["chat", quern_program.starter(), "--data-dir", self.folder.name,
                                    "--temperature", "0", "--ctx", str(ctx), "--activations", "f32", *more],
                              encoding="utf-8", timeout=quern_program.PATIENCE, dimensions=(40, 100))
        self.addCleanup(child.close, force=True)
        child.expect("> ")
        return child

    def test_a_conversation(self):
        child = self.chat("--max-tokens", "32")
        child.sendline("What is the capital of France?")
        child.expect("Paris")
        child.expect("stop: (eos|length)")
        child.expect("> ")
        child.sendline("/exit")
        child.expect(pexpect.EOF)
        child.close()
        self.assertEqual(child.exitstatus, 0)

        again = self.chat("--resume")  # shows the conversation
        again.expect("What is the capital of France")
        again.expect("Paris")
        again.expect("> ")
        again.sendeof()
        again.expect(pexpect.EOF)

    def test_ctrl_c_stops_the_reply_and_not_the_program(self):
        child = self.chat()
        child.sendline("Write a very long story about a mill.")
        child.expect(r"mill\.\r*\n")  # the echo
        child.expect(r"\w+ \w+ \w+ \w+")  # the reply has begun
        child.sendintr()
        child.expect("stop: stopped")
        child.expect("> ")
        child.send("half a line")
        child.sendintr()  # at the prompt it drops the line
        child.sendline("/help")
        child.expect("/again")
        child.sendline("/exit")
        child.expect(pexpect.EOF)

    def test_an_end_from_outside_gives_the_terminal_back(self):
        for ending in (signal.SIGTERM, signal.SIGHUP):
            with self.subTest(ending):
                child = self.chat()
                before = termios.tcgetattr(child.child_fd)
                self.assertFalse(before[3] & termios.ECHO)
                child.kill(ending)
                child.wait()
                self.assertEqual(child.exitstatus, 130)
                self.assertTrue(termios.tcgetattr(child.child_fd)[3] & termios.ECHO)

    def test_a_full_context_tells_the_ways_out(self):
        child = self.chat(ctx=96)
        child.sendline("Write a very long story about a mill.")
        child.expect("stop: context full")
        child.expect(r"the context of 96 tokens is full: /new .* --resume --ctx N")
        child.expect("> ")
        child.sendline("And then?")
        child.expect("leaves no room for a reply")
        child.expect(r"/new .* --resume --ctx N")
        child.expect("> ")
        child.sendline("/new")
        child.sendline("Say yes.")
        child.expect("stop: ")
        child.sendline("/exit")
        child.expect(pexpect.EOF)
        child.close()
        whole = self.chat("--resume", ctx=8192)
        whole.sendline("/exit")
        whole.expect(pexpect.EOF)

    def test_ctrl_c_from_the_first_moment_ends_a_run(self):
        child = pexpect.spawn(BIN, ["run", quern_program.starter(), "Write a very long story about a mill."],
                              encoding="utf-8", timeout=quern_program.PATIENCE, dimensions=(40, 100))
        self.addCleanup(child.close, force=True)
        before = termios.tcgetattr(child.child_fd)
        child.expect(r"\d %")  # of the load
        child.sendintr()
        child.expect(pexpect.EOF)
        child.wait()
        self.assertEqual(child.exitstatus, 130)
        self.assertEqual(termios.tcgetattr(child.child_fd), before)

    def test_several_lines_are_one_message(self):
        child = self.chat("--max-tokens", "4")
        child.sendline('"""first line')
        child.sendline('second line"""')
        child.expect("stop: ")
        child.expect("> ")
        child.sendline("/show")
        child.expect("> first line\r\nsecond line")
        child.sendline("/exit")
        child.expect(pexpect.EOF)

    def test_kill_9_during_a_reply_keeps_what_was_shown(self):
        child = self.chat()
        child.sendline("Write a very long story about a mill.")
        child.expect(r"mill\.\r*\n")  # the echo
        child.expect(r"\w+ \w+ \w+ \w+ \w+ \w+ \w+ \w+ \w+ \w+ \w+ \w+")
        # Saved four times a second: give the next save its time.
        child.expect(pexpect.TIMEOUT, timeout=1.0)
        child.kill(signal.SIGKILL)
        child.close(force=True)
        again = self.chat("--resume")  # shows the conversation
        again.expect(r"\[interrupted\]")
        again.expect("> ")
        again.sendline("/exit")
        again.expect(pexpect.EOF)


if __name__ == "__main__":
    quern_program.main()
