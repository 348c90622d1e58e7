"""The window with a real model, worked by keys and looked at from outside: what it saved, what it
answers over HTTP, what its title and its place among other windows say.

The window takes keys in the order in which they were sent, so a key waits only for what comes by
itself: a model that is loaded, a row of a list, the end of a reply.
"""
import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

import quern_program
from quern_program import CI, PATIENCE, starter

DESKTOP = os.environ["QUERN_DESKTOP_BIN"]
WRITING, INTERRUPTED = 1, 2  # of a message's state
NAME = "grain"  # of the model, in the models folder
# The inspector's fields below the system prompt, in the order of Tab.
SAMPLING = ["temperature", "topP", "topK", "minP", "repetitionPenalty", "seed", "maxTokens"]
# A flat distribution without the tokens of the prompt, and so without that which ends a message: a
# reply goes on until it is stopped or the context is full.
ENDLESS = {"temperature": 2, "topP": 1, "repetitionPenalty": 10}


class Display:
    """An X server of its own, without a window manager."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="quern-window-")
        os.chmod(self.folder.name, 0o700)
        for _ in range(8):
            # A number that nobody else has: two servers that look for a free one may take the same.
            number = random.randint(100, 50000)
            read, write = os.pipe()
            self.server = subprocess.Popen(
                ["Xvfb", f":{number}", "-displayfd", str(write), "-screen", "0", "1280x800x24",
                 "-noreset"],  # it would start over, and refuse clients, whenever the last one leaves
                pass_fds=[write], stderr=subprocess.DEVNULL)
            os.close(write)
            with os.fdopen(read) as ready:
                if ready.readline().strip() == str(number):
                    break
            self.server.wait()
        self.environment = dict(os.environ, DISPLAY=f":{number}", XDG_RUNTIME_DIR=self.folder.name,
                                QT_QPA_PLATFORM="xcb")

    def close(self):
        self.server.terminate()
        self.server.wait()
        self.folder.cleanup()

    def xdotool(self, *arguments):
        done = subprocess.run(["xdotool", *map(str, arguments)], env=self.environment,
                              capture_output=True, encoding="utf-8", timeout=PATIENCE)
        return done.stdout.strip()

    def on_top(self):
        """The window that the pointer is over."""
        found = re.search(r"WINDOW=(\d+)", self.xdotool("getmouselocation", "--shell"))
        return found and found.group(1)


class Desktop:
    """quern-desktop over a data folder; several may be started one after another over the same."""

    def __init__(self, display, data, *arguments):
        self.display = display
        self.data = data
        self.process = subprocess.Popen([DESKTOP, "--data-dir", data, *arguments],
                                        env=display.environment)
        self.window = self.wait_for(self._find, "a window")
        display.xdotool("windowfocus", "--sync", self.window)

    def _find(self):
        return self.display.xdotool("search", "--onlyvisible", "--pid", self.process.pid).split("\n")[0]

    def wait_for(self, holds, what, patience=PATIENCE):
        end = time.monotonic() + patience
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise AssertionError(f"the window ended with {self.process.returncode}, waiting for {what}")
            result = holds()
            if result:
                return result
            time.sleep(0.05)
        raise AssertionError(f"no {what} within {patience} s")

    def shown(self):
        """What the title tells: conversation or screen, model, program."""
        return self.display.xdotool("getwindowname", self.window).split(" – ")

    def wait_for_title(self, part):
        self.wait_for(lambda: any(shown.startswith(part) for shown in self.shown()), f"title with {part}")

    def keys(self, *names):
        self.display.xdotool("key", "--clearmodifiers", *names)

    def press_until(self, key, holds, what):
        """Presses a key, and again, until it has had its effect: it must be one that is harmless
        before that and after."""
        def pressed():
            self.keys(key)
            end = time.monotonic() + 1
            while time.monotonic() < end and not holds():
                time.sleep(0.02)
            return holds()
        self.wait_for(pressed, what)

    def type(self, text):
        self.display.xdotool("type", "--delay", "8", text)

    def set_sampling(self, **values):
        """Sets what the open conversation is sampled with, in the inspector."""
        self.keys("ctrl+1", "ctrl+i", "Tab")
        for name in SAMPLING:
            self.keys("Tab")
            if name in values:
                self.keys("ctrl+a")
                self.type(str(values[name]))
        self.keys("Tab", "ctrl+i", "ctrl+2", "ctrl+1")  # and back to the composer

    def quit(self):
        self.keys("ctrl+q")
        return self.process.wait(timeout=PATIENCE)

    def kill(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def messages(self):
        """(role, text, state) of every message, oldest first."""
        return self._ask("SELECT role, text, state FROM messages ORDER BY id")

    def _ask(self, query):
        file = self.data / "quern.db"
        if not file.exists():
            return []
        try:
            with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=10)) as database:
                return database.execute(query).fetchall()
        except sqlite3.OperationalError:  # not made yet
            return []

    def setting(self, key):
        file = self.data / "settings.json"
        return json.loads(file.read_text()).get(key) if file.exists() else None

    def sampling(self):
        """Of the newest conversation, as it was saved."""
        return json.loads(self._ask("SELECT sampling FROM conversations ORDER BY id DESC LIMIT 1")[0][0])

    def send(self):
        """Sends what is in the composer and returns it as it was saved."""
        before = len(self.messages())
        # While the reply before is taken down, Enter sends nothing.
        self.press_until("Return", lambda: len(self.messages()) >= before + 2, "message saved")
        return self.messages()[before][1]

    def say(self, text):
        self.type(text)
        self.send()

    def wait_for_end(self):
        self.wait_for(lambda: self.messages()[-1][2] != WRITING, "end of the reply")

    def answer_to(self, text):
        self.say(text)
        self.wait_for_end()
        return self.messages()[-1][1]

    def stop(self):
        self.keys("Escape")
        self.wait_for_end()

    def say_and_wait_until_it_writes(self, text):
        self.set_sampling(**ENDLESS)
        self.say(text)
        self.wait_for(lambda: self.messages()[-1][1], "beginning of the reply")
        sampling = self.sampling()
        for name, value in ENDLESS.items():
            if sampling.get(name) != value:
                raise AssertionError(f"{name} was not set: {sampling}")


class WithoutADisplay(unittest.TestCase):
    def run_desktop(self, *arguments):
        environment = {k: v for k, v in os.environ.items()
                       if k not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")}
        return subprocess.run([DESKTOP, *arguments], env=environment, capture_output=True, timeout=PATIENCE)

    def test_says_so_and_what_does_without(self):
        ran = self.run_desktop()
        self.assertEqual(ran.returncode, 1)
        self.assertIn(b"no display here; in the terminal, quern chat", ran.stderr)
        ran = self.run_desktop("--shot", "picture.png")
        self.assertEqual(ran.returncode, 2)
        self.assertIn(b"--shot wants a file, and a scene", ran.stderr)
        ran = self.run_desktop("--demo", "chat", "--shot=/no/such/picture.png")
        self.assertEqual(ran.returncode, 1)
        self.assertIn(b"cannot write /no/such/picture.png", ran.stderr)
        ran = self.run_desktop("--help")
        self.assertEqual(ran.returncode, 0)
        self.assertIn(b"--data-dir", ran.stdout)


class Window(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        missing = [tool for tool in ("Xvfb", "xdotool") if not shutil.which(tool)]
        if missing and CI:
            raise AssertionError(f"missing under CI: {missing}")
        if missing:
            raise unittest.SkipTest(f"not installed: {missing}")
        cls.model = starter()
        cls.display = Display()
        cls.addClassCleanup(cls.display.close)

    def start(self, *arguments, data=None):
        data = data or self.data_folder()
        desktop = Desktop(self.display, data, *arguments)
        self.addCleanup(desktop.kill)
        return desktop

    def start_with_model(self, data=None):
        desktop = self.start("--model", NAME, data=data)
        desktop.wait_for_title(NAME)
        return desktop

    def data_folder(self):
        data = pathlib.Path(tempfile.mkdtemp(dir=self.display.folder.name))
        (data / "models").mkdir()
        (data / "models" / f"{NAME}.gguf").symlink_to(self.model)
        return data

    def test_history_outlives_the_window(self):
        window = self.start_with_model()
        window.set_sampling(maxTokens=8)
        self.assertTrue(window.answer_to("What is a quern?"))
        window.wait_for_title("What is a quern?")
        window.keys("ctrl+n")
        window.set_sampling(maxTokens=8)
        self.assertTrue(window.answer_to("Who mills?"))
        self.assertEqual([text for role, text, _ in window.messages() if role == "user"],
                         ["What is a quern?", "Who mills?"])
        before = window.messages()
        self.assertEqual(window.quit(), 0)

        again = self.start(data=window.data)
        again.wait_for_title("Who mills?")  # so its list is there
        again.keys("ctrl+f", "Down", "Down", "Return")  # the list, its second row
        again.wait_for_title("What is a quern?")
        self.assertEqual(again.messages(), before)

    def test_a_damaged_file_of_conversations_keeps_nobody_from_chatting(self):
        data = self.data_folder()
        (data / "quern.db").write_bytes(b"noise" * 1000)
        window = self.start_with_model(data=data)
        window.set_sampling(maxTokens=8)
        self.assertTrue(window.answer_to("Still there?"))
        self.assertEqual((data / "quern.db.damaged").read_bytes(), b"noise" * 1000)
        self.assertEqual(window.quit(), 0)

    def test_what_the_terminal_says_is_seen_in_the_window(self):
        window = self.start_with_model()
        said = quern_program.quern("chat", NAME, "--max-tokens", 8, stdin=b"From there\n", data_dir=window.data)
        self.assertEqual(said.returncode, 0, said.stderr)

        def opened():
            window.keys("ctrl+f", "Down", "Return")
            return any(shown.startswith("From there") for shown in window.shown())
        window.wait_for(opened, "conversation of the terminal")
        window.keys("ctrl+1")
        window.set_sampling(maxTokens=8)
        self.assertTrue(window.answer_to("And here"))
        self.assertEqual(window._ask("SELECT count(DISTINCT conversation) FROM messages")[0][0], 1)

    def test_escape_in_the_composer_stops_the_reply(self):
        window = self.start_with_model()
        window.say_and_wait_until_it_writes("Hello")
        window.stop()
        self.assertEqual(window.messages()[-1][2], INTERRUPTED)
        self.assertTrue(window.messages()[-1][1])

    def test_a_kill_keeps_what_was_shown(self):
        window = self.start_with_model()
        window.say_and_wait_until_it_writes("Hello")
        window.kill()
        _, kept, state = window.messages()[-1]
        self.assertTrue(kept)
        self.assertEqual(state, WRITING, "nobody was left to say more of it")
        again = self.start_with_model(data=window.data)
        again.wait_for(lambda: again.messages()[-1][2] == INTERRUPTED, "mark of the interruption")
        self.assertEqual(again.messages()[-1][1], kept)
        again.say("Go on.")

    def test_a_second_start_raises_the_first(self):
        first = self.start()
        self.start()  # another data folder: a window of its own, over the first
        self.display.xdotool("mousemove", 600, 20)
        first.wait_for(lambda: self.display.on_top() != first.window, "window over the first")
        second = subprocess.run([DESKTOP, "--data-dir", first.data], env=self.display.environment,
                                timeout=PATIENCE)
        self.assertEqual(second.returncode, 0)
        first.wait_for(lambda: self.display.on_top() == first.window, "first window on top")

    def pasted(self, window):
        """What a button has put on the clipboard, as a message that is sent."""
        window.keys("ctrl+1", "ctrl+v")
        text = window.send()
        window.stop()
        window.keys("ctrl+4")
        return text

    def ask(self, url, key, body=None):
        request = urllib.request.Request(url, json.dumps(body).encode() if body else None,
                                         {"Authorization": f"Bearer {key}"})
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.read().decode()

    def models(self, address, key):
        return [model["id"] for model in json.loads(self.ask(address + "/models", key))["data"]]

    def answers(self, address, key):
        with contextlib.suppress(urllib.error.URLError):
            return bool(self.models(address, key))
        return False

    def chat(self, address, key, **body):
        return json.loads(self.ask(address + "/chat/completions", key, body))

    def running(self, address, key):
        metrics = self.ask(address.removesuffix("/v1") + "/metrics", key)
        return sum(float(value) for value in re.findall(r"^vllm:num_requests_running\S* (\S+)$", metrics, re.M))

    def test_a_client_talks_to_the_server_as_the_window_shows_it(self):
        data = self.data_folder()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        (data / "settings.json").write_text(json.dumps({"server.port": str(port)}))
        window = self.start_with_model(data=data)
        # Tab from the switch: copy address, this machine, network, port, key, new key, copy key.
        window.keys("ctrl+4", "Tab", "Tab", "Return")
        address = self.pasted(window)
        self.assertEqual(address, f"http://127.0.0.1:{port}/v1")
        window.keys(*["Tab"] * 5, "Return")
        window.wait_for(lambda: window.setting("server.apiKey"), "new key")
        window.keys("Tab", "Return")
        key = self.pasted(window)
        self.assertEqual(key, window.setting("server.apiKey"))
        window.keys(*["shift+Tab"] * 7, "space")
        window.wait_for(lambda: self.answers(address, key), "server")
        self.assertEqual(self.models(address, key), [NAME])
        with self.assertRaises(urllib.error.HTTPError) as refused:
            self.models(address, "qk-wrong")
        self.assertEqual(refused.exception.code, 401)
        refused.exception.close()
        hello = [{"role": "user", "content": "Hi"}]
        reply = self.chat(address, key, messages=hello, max_tokens=8)
        self.assertTrue(reply["choices"][0]["message"]["content"])

        # Models: look again, open a file, Unload; without that, the model's card and its sheet.
        window.keys("ctrl+2", "Tab", "Tab", "Tab", "Return")
        window.wait_for(lambda: NAME not in window.shown(), "model out of sight")
        self.assertEqual(self.models(address, key), [])
        window.keys("Tab", "Tab", "Tab", "Return")
        # The sheet's button is off until the estimate is there.
        window.press_until("Return", lambda: any(NAME in shown for shown in window.shown()), "load")
        window.wait_for(lambda: NAME in window.shown(), "model loaded again")
        window.keys("Escape")  # the sheet, should the key have come twice
        self.assertEqual(self.models(address, key), [NAME])

        # Monitor: a client's long request is cancelled from the list of requests.
        status = []

        def ask_for_much():
            try:
                self.chat(address, key, messages=hello, ignore_eos=True, max_tokens=7000)
                status.append(200)
            except urllib.error.HTTPError as refused:
                status.append(refused.code)
                refused.close()
        client = threading.Thread(target=ask_for_much)
        client.start()
        window.keys("ctrl+3")
        window.wait_for_title("Monitor: 1 running")
        # Tab from the pause: two orders of the map, the map, throughput, requests, their list.
        window.keys(*["Tab"] * 6, "Return", "Tab")
        window.press_until("Delete", lambda: self.running(address, key) == 0, "end of the request")
        client.join(timeout=PATIENCE)
        self.assertEqual(status, [503], "the client is told that its request was ended")
        self.assertEqual(window.quit(), 0)


if __name__ == "__main__":
    quern_program.main()
