"""Adapters over HTTP with the real `openai` client: two of them and the bare model at once, loaded and
unloaded while requests run."""
import concurrent.futures
import json
import pathlib
import struct
import tempfile
import unittest
import urllib.error
import urllib.request

import openai
import quern_program
from quern_program import Serve, golden, quern

KEY, ADMIN = "sesame", "open"
PROMPTS = [[5, 9, 200, 31, 7, 7, 64, 18, 2, 90], [17], list(range(3, 120, 4)), [1, 2, 3]]


class Lora(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.adapters = golden("lora")
        base = golden("models") / "llama" / "model.gguf"
        cls.serve = Serve(base, arguments=[
            "--api-key", KEY, "--admin-key", ADMIN, "--activations", "f32", "--kv-memory", "4M",
            "--lora", f"poet={cls.adapters / 'llama-r4'}",
            "--lora", f"clerk={cls.adapters / 'llama-r16-attention' / 'adapter.gguf'}"])
        cls.client = cls.client_with(KEY)
        cls.base = cls.client.models.list().data[0].id

    @classmethod
    def tearDownClass(cls):
        assert cls.serve.stop() == 0, "SIGTERM ends the server with 0"

    @classmethod
    def client_with(cls, key):
        return openai.OpenAI(base_url=cls.serve.url + "/v1", api_key=key, max_retries=0, timeout=quern_program.PATIENCE)

    def post(self, path, body, key=ADMIN):
        """(status, text)"""
        request = urllib.request.Request(self.serve.url + path, json.dumps(body).encode(),
                                         {"Content-Type": "application/json", "Authorization": f"Bearer {key}"})
        try:
            with urllib.request.urlopen(request, timeout=quern_program.PATIENCE) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def metrics(self):
        request = urllib.request.Request(self.serve.url + "/metrics", headers={"Authorization": f"Bearer {KEY}"})
        with urllib.request.urlopen(request, timeout=quern_program.PATIENCE) as answer:
            return answer.read().decode()

    def reply(self, model, prompt, tokens=12):
        """What tells replies of different models apart: the log-probability of every token."""
        reply = self.client.completions.create(model=model, prompt=prompt, max_tokens=tokens, temperature=0,
                                               logprobs=1, extra_body={"ignore_eos": True})
        self.assertEqual(reply.model, model)
        return reply.choices[0].logprobs.tokens, reply.choices[0].logprobs.token_logprobs

    def test_adapters_are_models_of_their_own_name(self):
        models = {model.id: model for model in self.client.models.list().data}
        self.assertEqual(set(models), {self.base, "poet", "clerk"})
        self.assertIsNone(models[self.base].parent)
        for name in ("poet", "clerk"):
            self.assertEqual(models[name].parent, self.base)
            self.assertEqual(self.client.models.retrieve(name).id, name)

    def test_two_adapters_and_the_bare_model_at_once(self):
        jobs = [(model, prompt) for prompt in PROMPTS for model in ("poet", self.base, "clerk")] * 2
        alone = [self.reply(*job) for job in jobs[:len(jobs) // 2]] * 2
        with concurrent.futures.ThreadPoolExecutor(len(jobs)) as pool:
            together = list(pool.map(lambda job: self.reply(*job), jobs))
        self.assertEqual(together, alone)
        self.assertEqual(len({str(reply) for reply in alone[:3]}), 3, "each model says something else")

    def test_loading_and_unloading(self):
        before = self.reply(self.base, PROMPTS[0])
        status, text = self.post("/v1/load_lora_adapter",
                                 {"lora_name": "guest", "lora_path": str(self.adapters / "llama-r4")})
        self.assertEqual((status, text), (200, "the adapter 'guest' is loaded"))
        self.assertEqual(self.reply("guest", PROMPTS[0]), self.reply("poet", PROMPTS[0]))
        self.assertIn("guest", [model.id for model in self.client.models.list().data])
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            running = pool.submit(self.reply, "guest", PROMPTS[1], 100)
            status, text = self.post("/v1/unload_lora_adapter", {"lora_name": "guest"})
            self.assertEqual((status, text), (200, "the adapter 'guest' is unloaded"))
            try:
                self.assertEqual(running.result(), self.reply("poet", PROMPTS[1], 100))
            except openai.APIStatusError as error:  # it came after the unloading
                self.assertIn("guest", error.message)
        with self.assertRaises(openai.NotFoundError) as raised:
            self.reply("guest", PROMPTS[0])
        self.assertEqual(raised.exception.code, "model_not_found")
        self.assertEqual(self.reply(self.base, PROMPTS[0]), before)

    def test_what_is_wrong_is_told(self):
        path = str(self.adapters / "llama-r4")
        for body, status, part in (
                ({"lora_name": "x"}, 400, "'lora_path' is missing"),
                ({"lora_path": path}, 400, "'lora_name' is missing"),
                ({"lora_name": "x", "lora_path": "/nowhere"}, 404, "no adapter at /nowhere"),
                ({"lora_name": "poet", "lora_path": path}, 400, "an adapter named poet is loaded"),
                ({"lora_name": self.base, "lora_path": path}, 400, "is loaded"),
                ({"lora_name": "x", "lora_path": path, "load_inplace": True}, 400, "load_inplace"),
                ({"lora_name": "x", "lora_path": str(self.adapters / "qwen3-r8-rslora")}, 400,
                 "takes [8, 64] and [32, 8]; it was made for 'qwen3'")):
            answer, text = self.post("/v1/load_lora_adapter", body)
            self.assertEqual(answer, status, text)
            self.assertIn(part, json.loads(text)["error"]["message"])
        self.assertEqual(self.post("/v1/unload_lora_adapter", {"lora_name": "x"})[0], 404)

    def test_only_the_admin_key_changes_what_is_loaded(self):
        body = {"lora_name": "x", "lora_path": str(self.adapters / "llama-r4")}
        for path in ("/v1/load_lora_adapter", "/v1/unload_lora_adapter"):
            self.assertEqual(self.post(path, body, KEY)[0], 403)
            self.assertEqual(self.post(path, body, "wrong")[0], 401)
        self.assertEqual(len(self.client_with(ADMIN).models.list().data), 3, "it may also use them")

    def test_metrics_tell_who_is_asked(self):
        text = self.metrics()
        self.assertRegex(text, r'vllm:lora_requests_info\{model_name="model",engine="0",max_lora="[23]",'
                               r'running_lora_adapters="[^"]*",waiting_lora_adapters="[^"]*"\} \d')
        self.assertRegex(text, r'quern_adapter_bytes\{[^}]*\} [1-9]')


def write_adapter(folder, scale):
    """A PEFT adapter of the starter model's queries and values: its numbers made up, times `scale`."""
    tensors = {}
    for layer in range(30):
        for module, outputs in (("q_proj", 576), ("v_proj", 192)):
            name = f"base_model.model.model.layers.{layer}.self_attn.{module}.lora_"
            tensors[name + "A.weight"] = (2, 576, [((i * 37 + layer) % 19 - 9) / 90 for i in range(2 * 576)])
            tensors[name + "B.weight"] = (outputs, 2, [scale * ((i * 53) % 23 - 11) / 50 for i in range(2 * outputs)])
    header, data = {}, b""
    for name, (rows, cols, values) in tensors.items():
        raw = struct.pack(f"<{len(values)}f", *values)
        header[name] = {"dtype": "F32", "shape": [rows, cols], "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    (folder / "adapter_model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
    (folder / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA", "r": 2, "lora_alpha": 4}))


class Terminal(unittest.TestCase):
    def test_a_real_quantized_model_takes_an_adapter(self):
        starter = quern_program.starter()

        def run(*arguments):
            ran = quern("run", starter, "--json", "--temperature", 0, "--max-tokens", 24, *arguments,
                        "Why is the sky blue?")
            self.assertEqual(ran.returncode, 0, ran.stderr.decode())
            return json.loads(ran.stdout)

        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            write_adapter(folder, 0)
            bare, nothing = run(), run("--lora", f"mine={folder}")
            self.assertEqual(nothing["model"], "mine")
            self.assertEqual(nothing["tokens"], bare["tokens"], "an adapter that adds 0")
            write_adapter(folder, 1)
            self.assertNotEqual(run("--lora", folder)["tokens"], bare["tokens"])

    def test_what_is_no_adapter_is_told(self):
        base = golden("models") / "llama"
        for path, part in (("/nowhere", "no adapter at /nowhere"), (base, "has no adapter_config.json"),
                           (base / "model.gguf", "holds no adapter"),
                           (golden("lora") / "qwen3-r8-rslora", "takes [8, 64] and [32, 8]")):
            ran = quern("run", base, "x", "--lora", path)
            self.assertNotEqual(ran.returncode, 0)
            self.assertIn(part, ran.stderr.decode())


if __name__ == "__main__":
    quern_program.main()
