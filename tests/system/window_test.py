"""The window with a real model: type, send, restart, kill -9, a second start.

Drives quern-desktop under Xvfb with xdotool and looks at what it saved. State 1 is a reply being
written, 2 one that was interrupted.
"""
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest

import quern_program
from quern_program import CI, PATIENCE, starter

DESKTOP = os.environ["QUERN_DESKTOP_BIN"]
LONG = "Count from one to one thousand in words, all of them, and then tell a very long story."
WRITING, INTERRUPTED = 1, 2


class Window(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        missing = [tool for tool in ("Xvfb", "xdotool") if not shutil.which(tool)]
        if missing and CI:
            raise AssertionError(f"missing under CI: {missing}")
        if missing:
            raise unittest.SkipTest(f"not installed: {missing}")
        cls.model = starter()
        cls.folder = tempfile.TemporaryDirectory(prefix="quern-window-")
        os.chmod(cls.folder.name, 0o700)
        read, write = os.pipe()
        cls.server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x800x24"],
            pass_fds=[write], stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as display:
            cls.environment = dict(os.environ, DISPLAY=":" + display.readline().strip(),
                                   XDG_RUNTIME_DIR=cls.folder.name, QT_QPA_PLATFORM="xcb")

    @classmethod
    def tearDownClass(cls):
        cls.server.terminate()
        cls.server.wait()
        cls.folder.cleanup()

    def setUp(self):
        self.data = pathlib.Path(tempfile.mkdtemp(dir=self.folder.name))
        self.process = None

    def tearDown(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def start(self):
        self.process = subprocess.Popen(
            [DESKTOP, "--data-dir", self.data, "--model", self.model], env=self.environment)
        self.wait_for(lambda: self.xdotool("search", "--name", "Quern"), "a window")
        time.sleep(1.5)  # a window that was just mapped loses the first keys

    def xdotool(self, *arguments):
        done = subprocess.run(["xdotool", *arguments], env=self.environment, capture_output=True,
                              text=True, timeout=PATIENCE)
        return done.stdout.strip()

    def title(self):
        """Of the window itself: the one that has a name and a size."""
        names = [self.xdotool("getwindowname", found)
                 for found in self.xdotool("search", "--name", "Quern").split()]
        return max(names, key=len, default="")

    def wait_for(self, holds, what):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            self.assertTrue(self.process.poll() is None, "the window ended")
            result = holds()
            if result:
                return result
            time.sleep(0.1)
        self.fail(f"no {what} within {PATIENCE} s")

    def messages(self):
        """(role, text, state) of every message, oldest first."""
        file = self.data / "quern.db"
        if not file.exists():
            return []
        with sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=10) as database:
            try:
                return database.execute(
                    "SELECT role, text, state FROM messages ORDER BY id").fetchall()
            except sqlite3.OperationalError:
                return []

    def say(self, text):
        before = len(self.messages())
        self.xdotool("mousemove", "700", "722", "click", "1")
        time.sleep(0.3)
        self.xdotool("type", "--delay", "12", text)

        def sent():
            # Until the model is loaded Enter sends nothing and the text stays.
            self.xdotool("key", "Return")
            time.sleep(0.3)
            return len(self.messages()) >= before + 2
        self.wait_for(sent, "message saved")

    def say_until_it_writes(self):
        """Sends until a reply is caught in the middle; a small model may be done before that."""
        for _ in range(8):
            self.say(LONG)
            end = time.monotonic() + PATIENCE
            while time.monotonic() < end:
                role, text, state = self.messages()[-1]
                if state != WRITING:
                    break
                if text:
                    return
                time.sleep(0.02)
        self.fail("no reply could be caught while it was written")

    def test_history_outlives_the_window(self):
        self.start()
        self.say("What is a quern?")
        self.wait_for(lambda: self.messages()[-1][2] != WRITING, "end of the reply")
        self.assertEqual(self.messages()[0][:2], ("user", "What is a quern?"))
        self.assertTrue(self.messages()[1][1])
        self.wait_for(lambda: "What is a quern?" in self.title(), "conversation in the title")
        self.xdotool("key", "ctrl+q")
        self.assertEqual(self.process.wait(timeout=PATIENCE), 0)
        before = self.messages()
        self.start()
        self.xdotool("mousemove", "300", "96")

        def opened():
            self.xdotool("click", "1")
            return "What is a quern?" in self.title()
        self.wait_for(opened, "conversation in the list")
        self.assertEqual(self.messages(), before)

    def test_a_kill_keeps_what_was_shown(self):
        self.start()
        self.say_until_it_writes()
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        kept = self.messages()[-1][1]
        self.assertTrue(kept)
        self.start()
        self.wait_for(lambda: self.messages()[-1][2] == INTERRUPTED, "mark of the interruption")
        self.assertEqual(self.messages()[-1][1], kept)

    def test_a_second_start_goes_to_the_first(self):
        self.start()
        second = subprocess.run([DESKTOP, "--data-dir", self.data], env=self.environment,
                                timeout=PATIENCE)
        self.assertEqual(second.returncode, 0)
        self.assertIsNone(self.process.poll())


if __name__ == "__main__":
    quern_program.main()
