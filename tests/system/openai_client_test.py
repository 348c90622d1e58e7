"""The real `openai` client against the real server and the starter model."""
import unittest

import openai
import quern_program
from quern_program import Serve

KEY = "sesame"
QUESTION = [{"role": "user", "content": "What is the capital of France?"}]


class OpenAiClient(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        model = quern_program.starter()
        cls.serve = Serve(model, arguments=["--api-key", KEY, "--ctx", "2048", "--activations", "f32"])
        cls.client = openai.OpenAI(base_url=cls.serve.url + "/v1", api_key=KEY, max_retries=0, timeout=quern_program.PATIENCE)
        cls.model = cls.client.models.list().data[0].id

    @classmethod
    def tearDownClass(cls):
        assert cls.serve.stop() == 0, "SIGTERM ends the server with 0"

    def chat(self, **more):
        return self.client.chat.completions.create(model=self.model, messages=QUESTION, temperature=0, **more)

    def test_chat(self):
        reply = self.chat(max_tokens=32)
        self.assertIn("Paris", reply.choices[0].message.content)
        self.assertEqual(reply.choices[0].finish_reason, "stop")
        self.assertEqual(reply.usage.total_tokens, reply.usage.prompt_tokens + reply.usage.completion_tokens)

    def test_stream_equals_whole(self):
        whole = self.chat(max_tokens=24)
        chunks = list(self.chat(max_tokens=24, stream=True, stream_options={"include_usage": True}))
        text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
        self.assertEqual(text, whole.choices[0].message.content)
        self.assertEqual(chunks[0].choices[0].delta.role, "assistant")
        self.assertEqual(len({c.id for c in chunks}), 1)
        finishes = [c.choices[0].finish_reason for c in chunks if c.choices]
        self.assertEqual([f for f in finishes if f], [whole.choices[0].finish_reason])
        self.assertEqual(chunks[-1].usage.completion_tokens, whole.usage.completion_tokens)

    def test_prefix_hit_is_told_and_changes_nothing(self):
        messages = [{"role": "system", "content": "You answer with one word. " * 12}, *QUESTION]
        first, second = (self.client.chat.completions.create(
            model=self.model, messages=messages, temperature=0, max_tokens=16) for _ in range(2))
        self.assertEqual(first.choices[0].message.content, second.choices[0].message.content)
        cached = second.usage.prompt_tokens_details.cached_tokens
        self.assertGreaterEqual(cached, 16)
        self.assertLess(cached, second.usage.prompt_tokens)

    def test_logprobs(self):
        reply = self.chat(max_tokens=5, logprobs=True, top_logprobs=10)
        content = reply.choices[0].logprobs.content
        self.assertEqual("".join(t.token for t in content), reply.choices[0].message.content)
        for token in content:
            self.assertLessEqual(token.logprob, 0)
            self.assertEqual(len(token.top_logprobs), 10)
            self.assertEqual(token.top_logprobs[0].token, token.token, "greedy takes the best")
            self.assertEqual(bytes(token.bytes).decode(), token.token)
        streamed = [t for c in self.chat(max_tokens=5, logprobs=True, top_logprobs=10, stream=True)
                    if c.choices and c.choices[0].logprobs for t in c.choices[0].logprobs.content]
        self.assertEqual([t.logprob for t in streamed], [t.logprob for t in content])

    def test_seed_and_choices(self):
        def ask():
            reply = self.client.chat.completions.create(
                model=self.model, messages=QUESTION, temperature=1.0, seed=7, n=3, max_tokens=12)
            return [c.message.content for c in sorted(reply.choices, key=lambda c: c.index)]
        first = ask()
        self.assertEqual(first, ask(), "same seed, same tokens")
        self.assertGreater(len(set(first)), 1, "choices differ")

    def test_tools_are_told_to_a_model_without_a_place_for_them(self):
        tools = [{"type": "function", "function": {"name": "look_up", "description": "Looks a word up"}}]
        plain = self.chat(max_tokens=4)
        told = self.chat(max_tokens=4, tools=tools)
        self.assertGreater(told.usage.prompt_tokens, plain.usage.prompt_tokens + 20)
        self.assertIn(told.choices[0].finish_reason, ("stop", "length", "tool_calls"))
        kept = self.chat(max_tokens=4, tools=tools, tool_choice="none")
        self.assertEqual(kept.usage.prompt_tokens, plain.usage.prompt_tokens)

    def test_stop(self):
        whole = self.chat(max_tokens=24).choices[0].message.content
        word = whole.split()[3]
        reply = self.chat(max_tokens=24, stop=[word])
        self.assertEqual(reply.choices[0].message.content, whole[:whole.index(word)])
        self.assertEqual(reply.choices[0].finish_reason, "stop")
        self.assertEqual(reply.choices[0].stop_reason, word)

    def test_completions(self):
        one = self.client.completions.create(model=self.model, prompt="Water boils at", temperature=0, max_tokens=8)
        import json
        import urllib.request
        request = urllib.request.Request(
            self.serve.url + "/tokenize", json.dumps({"prompt": "Water boils at"}).encode(),
            {"Authorization": "Bearer " + KEY})
        ids = json.load(urllib.request.urlopen(request))["tokens"]
        two = self.client.completions.create(model=self.model, prompt=ids, temperature=0, max_tokens=8)
        self.assertEqual(one.choices[0].text, two.choices[0].text)
        several = self.client.completions.create(
            model=self.model, prompt=["Water boils at", "The sun"], temperature=0, max_tokens=8)
        self.assertEqual(several.choices[0].text, one.choices[0].text, "alone or beside another: the same")
        self.assertEqual(one.choices[0].finish_reason, "length")

    def test_max_tokens_is_kept(self):
        reply = self.chat(max_tokens=3)
        self.assertEqual((reply.usage.completion_tokens, reply.choices[0].finish_reason), (3, "length"))

    def test_errors(self):
        with self.assertRaises(openai.NotFoundError) as raised:
            self.client.chat.completions.create(model="nobody", messages=QUESTION)
        self.assertEqual(raised.exception.code, "model_not_found")
        for stream in (False, True):
            with self.assertRaises(openai.BadRequestError) as raised:
                self.client.chat.completions.create(
                    model=self.model, stream=stream, messages=[{"role": "user", "content": "word " * 4000}])
            self.assertEqual(raised.exception.code, "context_length_exceeded")
            self.assertIn("2048", str(raised.exception))
        with self.assertRaises(openai.BadRequestError) as raised:
            self.chat(top_p=7)
        self.assertEqual(raised.exception.param, "top_p")
        tools = [{"type": "function", "function": {"name": "look"}}]
        with self.assertRaises(openai.BadRequestError) as raised:
            self.chat(tools=tools, tool_choice="required")
        self.assertEqual(raised.exception.param, "tool_choice")
        with self.assertRaises(openai.AuthenticationError):
            openai.OpenAI(base_url=self.serve.url + "/v1", api_key="wrong", max_retries=0).models.list()


if __name__ == "__main__":
    quern_program.main()
