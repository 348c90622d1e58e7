"""The real `openai` client's tool calls and reasoning, over a server whose engine says what a test writes."""
import json
import os
import subprocess
import unittest

import openai
import quern_program

TOOLS = [{"type": "function", "function": {
    "name": "look", "description": "The weather of a city", "parameters": {
        "type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}}}]
WEATHER = {"city": "Paris", "days": 2}
CALL = '<tool_call>\n{"name": "look", "arguments": {"city": "Paris", "days": 2}}\n</tool_call>'


class Parrot:
    """A server whose model says the last message's text, in the format that `sign` stands for."""

    def __init__(self, sign):
        self.process = subprocess.Popen([os.environ["QUERN_PARROT"], sign], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        url = self.process.stdout.readline().strip()
        self.client = openai.OpenAI(base_url=url + "/v1", api_key="none", max_retries=0, timeout=quern_program.PATIENCE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        assert self.process.wait(timeout=quern_program.PATIENCE) == 0
        self.process.stdout.close()

    def ask(self, says, **more):
        return self.client.chat.completions.create(
            model="scripted", messages=[{"role": "user", "content": says}], **{"tools": TOOLS, **more})


class ToolCalls(unittest.TestCase):
    def setUp(self):
        self.parrot = Parrot("<tool_call> <think>")
        self.addCleanup(self.parrot.__exit__)

    def test_whole(self):
        choice = self.parrot.ask(f"<think>Hm.</think>Let me look.{CALL}").choices[0]
        self.assertEqual(choice.finish_reason, "tool_calls")
        self.assertEqual(choice.message.content, "Let me look.")
        self.assertEqual(choice.message.reasoning_content, "Hm.")
        (call,) = choice.message.tool_calls
        self.assertEqual((call.type, call.function.name), ("function", "look"))
        self.assertEqual(json.loads(call.function.arguments), WEATHER)
        self.assertIsNone(self.parrot.ask(CALL).choices[0].message.content)

    def test_two_calls_in_a_stream(self):
        calls = {}
        for chunk in self.parrot.ask(f"{CALL}\n{CALL}", stream=True):
            for call in chunk.choices[0].delta.tool_calls or []:
                known = calls.setdefault(call.index, {"id": call.id, "arguments": ""})
                known["arguments"] += call.function.arguments
            finish = chunk.choices[0].finish_reason
        self.assertEqual(finish, "tool_calls")
        self.assertEqual([json.loads(c["arguments"]) for c in calls.values()], [WEATHER, WEATHER])
        self.assertEqual(len({c["id"] for c in calls.values()}), 2)

    def test_stream_deltas(self):
        chunks = list(self.parrot.ask(f"<think>Hm.</think>One.{CALL}", stream=True))
        deltas = [c.choices[0].delta for c in chunks]
        self.assertEqual("".join(getattr(d, "reasoning_content", None) or "" for d in deltas), "Hm.")
        self.assertEqual("".join(d.content or "" for d in deltas), "One.")
        calls = [d.tool_calls[0] for d in deltas if d.tool_calls]
        self.assertEqual((calls[0].index, calls[0].function.name, calls[0].function.arguments), (0, "look", ""))
        self.assertTrue(calls[0].id)
        self.assertGreater(len(calls), 3, "arguments come as they are written")
        self.assertTrue(all(c.id is None and c.function.name is None for c in calls[1:]))
        self.assertEqual(json.loads("".join(c.function.arguments for c in calls)), WEATHER)

    def test_the_result_goes_back(self):
        call = self.parrot.ask(CALL).choices[0].message
        reply = self.parrot.client.chat.completions.create(model="scripted", tools=TOOLS, messages=[
            {"role": "user", "content": "Weather?"}, call.model_dump(exclude_none=True),
            {"role": "tool", "tool_call_id": call.tool_calls[0].id, "content": "Sun."}])
        self.assertEqual(reply.choices[0].message.content, "Sun.")
        self.assertEqual(reply.choices[0].finish_reason, "stop")

    def test_what_is_no_call_is_text(self):
        broken = "<tool_call>{oops}</tool_call> and so on"
        self.assertEqual(self.parrot.ask(broken).choices[0].message.content, broken)
        reply = self.parrot.ask(CALL, tool_choice="none").choices[0]
        self.assertEqual((reply.message.content, reply.message.tool_calls, reply.finish_reason), (CALL, None, "stop"))

    def test_length_wins(self):
        choice = self.parrot.ask(CALL, max_tokens=60).choices[0]
        self.assertEqual(choice.finish_reason, "length")
        self.assertTrue('{"city": "Paris", "days": 2}'.startswith(choice.message.tool_calls[0].function.arguments))

    def test_one_call_at_most(self):
        self.assertEqual(len(self.parrot.ask(CALL + CALL, parallel_tool_calls=False).choices[0].message.tool_calls), 1)

    def test_what_cannot_be_honoured_is_refused(self):
        for choice in ("required", {"type": "function", "function": {"name": "look"}}):
            with self.assertRaises(openai.BadRequestError) as raised:
                self.parrot.ask("x", tool_choice=choice)
            self.assertEqual(raised.exception.param, "tool_choice")

    def test_other_dialects(self):
        arguments = json.dumps(WEATHER)
        for sign, text in {
                "[TOOL_CALLS]": '[TOOL_CALLS][{"name": "look", "arguments": %s}]' % arguments,
                "<｜tool▁call▁begin｜>": f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>look<｜tool▁sep｜>{arguments}"
                                       "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
                "<|channel|>": f"<|channel|>commentary to=functions.look <|constrain|>json<|message|>{arguments}<|call|>",
        }.items():
            with Parrot(sign) as parrot:
                choice = parrot.ask(text).choices[0]
                self.assertEqual(choice.finish_reason, "tool_calls", sign)
                self.assertEqual(json.loads(choice.message.tool_calls[0].function.arguments), WEATHER)


if __name__ == "__main__":
    quern_program.main()
