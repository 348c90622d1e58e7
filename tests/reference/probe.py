"""The built text_probe as an object. QUERN_PROBE names the program; else the release build's."""
import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOW = 1768478400  # 2026-01-15 12:00:00


class Probe:
    def __init__(self):
        path = os.environ.get("QUERN_PROBE", str(ROOT / "build/release/tests/text_probe"))
        self._process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         text=True, encoding="utf-8")

    def ask(self, op, **fields):
        request = json.dumps({"op": op, **fields})
        self._process.stdin.write(request + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("the probe died on " + request[:4000])
        return json.loads(line)

    def render(self, template, context, messages=(), tools=None, documents=None, bos="<s>", eos="</s>"):
        def optional(value):
            return "" if value is None else json.dumps(value)
        return self.ask("render", template=template, messages=json.dumps(list(messages)),
                        tools=optional(tools), documents=optional(documents),
                        kwargs=json.dumps(context), bos=bos, eos=eos, now=NOW)
