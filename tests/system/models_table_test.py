"""docs/models.md: what was opened, computed and compared, and how far it was from the reference.

Run as a test it demands that each line's verdict is what the page says. To write the page anew:
    QUERN_BIN=build/release/bin/quern tests/system/models_table_test.py --write
"""
import concurrent.futures
import json
import os
import re
import sys
import tempfile
import unittest

import quern_program
from quern_program import SOURCE, golden, quern

PAGE = SOURCE / "docs" / "models.md"
NOW = "2026-01-15T12:00:00"  # when the templates' expected values were made
HEAD = """# What opens, and how exactly

Written by `tests/system/models_table_test.py --write`, which opens every golden model, vocabulary and
template with `quern verify`, `quern tokenize` and `quern render`, and compares with what reference
implementations computed. A test holds this page against the program.

"""


def verify(model, expected, *adapters):
    """(verdict, distance): the largest error as a share of the bar, over all cases."""
    tilings = ["--batch", 3, "--threads", 1]
    for adapter in adapters:
        tilings += ["--lora", adapter]
    if "last_logits" in json.loads(expected.read_text())["cases"][0]:
        tilings += ["--chunk", 7, "--prefix"]  # the text of a vector is computed in one step
    ran = quern("verify", model, "--expected", expected, "--json", *tilings, timeout=900)
    if not ran.stdout:
        why = ran.stderr.decode().strip().removeprefix("quern verify: ")
        return "no", why.replace(f"{expected.parent}/", "")
    report = json.loads(ran.stdout)
    cases = [case for run in report["runs"] for case in run["cases"]]
    shares = [case["largest_error"] / case["error_bar"] for case in cases if case["error_bar"]]
    is_same = all(variant["equal"] for run in report["runs"] for variant in run["variants"])
    share = f"{100 * max(shares):.0f} % of the bar" if shares else ""
    verdict = "exact" if report["within_bar"] else "beyond the bar" if is_same else "differs by tiling"
    return verdict, share


def architectures():
    folder = golden("models")
    jobs = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for model in sorted(path for path in folder.iterdir() if path.is_dir()):
            for kind, path in (("Hugging Face", model), ("GGUF", model / "model.gguf")):
                if path.exists():
                    jobs[model.name, kind] = pool.submit(verify, path, model / "expected.json")
    lines = ["## Architectures", "",
             "Logits (encoders: vectors) with float32 activations and cache, against float32 eager attention; the bar is",
             "5e-5 of the largest logit. Exact also means: bitwise the same in chunks, in batches, after prefix hits and",
             "with one thread (vectors: in batches and with one thread).", "", "| model | format | verdict | largest error |", "|---|---|---|---|"]
    for (model, kind), job in jobs.items():
        verdict, distance = job.result()
        lines.append(f"| {model} | {kind} | {verdict} | {distance} |")
    return lines


def shapes():
    folder = SOURCE / "tests" / "data" / "reference"
    lines = ["## Further kinds and shapes", "",
             "By the same rules, small models whose answers were computed by transformers: kinds of which there is no",
             "golden model, and configurations that random ones once showed to be read wrong. Hundreds more are made,",
             "answered and compared by `tests/reference/random_models.py`. Where a model's positions depend on the length",
             "of a text (long-rope, dynamic NTK), a text is compared with the positions of its length; an engine that",
             "serves requests takes those of its context for all.", "",
             "| model | kind | verdict | largest error |", "|---|---|---|---|"]
    models = sorted(path for path in folder.iterdir() if path.is_dir())
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda model: verify(model, model / "expected.json"), models))
    for model, (verdict, distance) in zip(models, results):
        kind = json.loads((model / "config.json").read_text())["model_type"]
        lines.append(f"| {model.name} | {kind} | {verdict} | {distance} |")
    return lines


def adapters():
    folder, models = golden("lora"), golden("models")
    base_of = {path: json.loads((path / "expected.json").read_text())["base"] for path in sorted(folder.iterdir())}
    lines = ["## Adapters", "",
             "LoRA, by the same rules as the models; among sequences without an adapter and with the other adapters of",
             "the same model.", "",
             "| adapter | format | model | verdict | largest error |", "|---|---|---|---|---|"]
    for adapter, base in base_of.items():
        others = [path for path in base_of if base_of[path] == base and path != adapter]
        for kind, path in (("PEFT", adapter), ("GGUF", adapter / "adapter.gguf")):
            for base_kind, model in (("Hugging Face", models / base), ("GGUF", models / base / "model.gguf")):
                if path.exists() and model.exists():
                    verdict, distance = verify(model, adapter / "expected.json", path, *others)
                    lines.append(f"| {adapter.name} | {kind} | {base}, {base_kind} | {verdict} | {distance} |")
    return lines


def tokenize(model, text, *flags):
    ran = quern("tokenize", model, "--ids", *flags, stdin=text)
    return [int(id) for id in ran.stdout.split()] if ran.returncode == 0 else None


def share(right, total):
    return "exact" if right == total else f"{right} of {total}"


def tokenizers():
    lines = ["## Tokenizers", "", "| vocabulary | format | texts | verdict |", "|---|---|---|---|"]
    for vocabulary in sorted(golden("tokenizers-gguf").glob("*.gguf")):
        texts = vocabulary.with_suffix(".inp").read_bytes().split(b"\n__ggml_vocab_test__\n")
        wanted = vocabulary.with_suffix(".out").read_text().splitlines()
        pairs = list(zip(texts, wanted))
        right = sum(tokenize(vocabulary, text) == [int(id) for id in ids.split()] for text, ids in pairs)
        lines.append(f"| {vocabulary.stem} | GGUF | {len(pairs)} | {share(right, len(pairs))} |")
    for folder in sorted(path for path in golden("tokenizers-hf").iterdir() if path.is_dir()):
        cases = json.loads((folder / "expected.json").read_text())["cases"]
        right = sum(tokenize(folder, case["text"].encode(), "--parse-special") == case["ids"] and
                    tokenize(folder, case["text"].encode(), "--parse-special", "--special") == case["ids_with_special"]
                    for case in cases)
        lines.append(f"| {folder.name} | tokenizer.json | {len(cases)} | {share(right, len(cases))} |")
    return lines


def renders(template, conversation, expected):
    with tempfile.TemporaryDirectory() as folder:
        def file(name):
            path = os.path.join(folder, name + ".json")
            with open(path, "w") as out:
                json.dump(conversation[name], out)
            return path

        arguments = ["--messages", file("messages"), "--bos", "<|BOS|>", "--eos", "<|EOS|>", "--now", NOW]
        if "tools" in conversation:
            arguments += ["--tools", file("tools")]
        if "kwargs" in conversation:
            arguments += ["--kwargs", json.dumps(conversation["kwargs"])]
        ran = quern("render", template, *arguments)
    if "text" in expected:
        return ran.returncode == 0 and ran.stdout.decode() == expected["text"]
    return ran.returncode == 1 and expected["error"].removeprefix("TemplateError: ") in ran.stderr.decode()


def templates():
    folder = golden("chat-templates")
    truth = json.loads((folder / "expected.json").read_text())
    lines = ["## Chat templates", "",
             "Byte for byte, refusals included. Exempt are two cases of Kimi-K2-Thinking that the reference's sandbox",
             "refuses for `list.append`, which is allowed here. [tests/reference](../tests/reference/README.md) has",
             "scripts that go beyond these cases, by chance, and says what is known to differ.", "",
             "| template | conversations | verdict |", "|---|---|---|"]
    for name, results in sorted(truth["expected"].items()):
        exempt = ("tool-call", "parallel-tool-calls") if name == "Kimi-K2-Thinking.jinja" else ()
        cases = [case for case in results if case not in exempt]
        right = sum(renders(folder / "templates" / name, truth["conversations"][case], results[case]) for case in cases)
        lines.append(f"| {name.removesuffix('.jinja')} | {len(cases)} | {share(right, len(cases))} |")
    return lines


def page():
    return HEAD + "\n\n".join("\n".join(part()) for part in (architectures, shapes, adapters, tokenizers, templates)) + "\n"


def without_distances(text):
    return re.sub(r"\d+ % of the bar", "", text)


class ModelsTable(unittest.TestCase):
    def test_the_page_says_what_is(self):
        golden("chat-templates")  # a part of the golden data would give a part of the page
        self.assertEqual(without_distances(PAGE.read_text()), without_distances(page()))


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(page())
    else:
        quern_program.main()
