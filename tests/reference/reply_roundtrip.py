#!/usr/bin/env python3
"""What chat templates write of an assistant's turn, read back by the reply parser.

reply_roundtrip.py TEMPLATE.jinja… [--verbose]

A template is given a chat whose last message is an assistant's with calls, text or reasoning. What it
writes behind its own generation prompt is what a model would have said; parsed, in pieces of every
size, it has to give the same calls, text and reasoning. A template that leaves something of the message
out, or has no place for it, is not held against the parser.
"""
import argparse
import collections
import json
import pathlib
import re
import sys

from probe import Probe

TOOLS = [
    {"type": "function", "function": {"name": "get_weather", "description": "Weather of a city", "parameters": {"type": "object", "properties": {
        "city": {"type": "string", "description": "City"}, "days": {"type": "integer", "description": "Days"},
        "exact": {"type": "boolean", "description": "Exact"}}, "required": ["city"]}}},
    {"type": "function", "function": {"name": "add-numbers.v2", "description": "Sum", "parameters": {"type": "object", "properties": {
        "a": {"type": "number", "description": "A"}, "b": {"type": "number", "description": "B"}}, "required": ["a", "b"]}}},
    {"type": "function", "function": {"name": "put", "description": "Puts", "parameters": {"type": "object", "properties": {
        "text": {"type": "string", "description": "Text"}, "tags": {"type": "array", "items": {"type": "string"}, "description": "Tags"},
        "options": {"type": "object", "description": "Options"}, "nothing": {"type": ["string", "null"], "description": "Null"}}, "required": []}}},
    {"type": "function", "function": {"name": "now", "description": "Time", "parameters": {"type": "object", "properties": {}}}},
]
HARD = "He said \"hi\" & 'bye' <b>\n\tnext: {x: [1, 2]}, 你好 😀 \\n \\ 100% a=b) ] }"
CALLS = {
    "simple": [("get_weather", {"city": "Paris"})],
    "numbers": [("add-numbers.v2", {"a": 1, "b": -2.5e-7})],
    "two": [("get_weather", {"city": "北京", "days": 3, "exact": True}), ("add-numbers.v2", {"a": 1, "b": 2})],
    "hard": [("put", {"text": HARD, "tags": ["a", "b,c", "d\"e"], "options": {"k": {"n": [1, None, False, "x"]}, "e": {}}, "nothing": None})],
    "none": [("now", {})],
    "digits": [("get_weather", {"city": "12345", "days": 7})],
    "blank": [("put", {"text": "", "tags": []})],
    "words": [("put", {"text": "true"}), ("get_weather", {"city": "null"})],
}
TEXTS = {"": "", "text": "Let me look that up.", "lines": "First line.\n\n- one <b>bold</b>\n- `code` {\"a\": 1} [x](y)"}
REASONS = {"": "", "why": "The user wants it.\nSo: use a tool?"}
# What ends a turn, by the tokens that models have for it; a stop token is no part of a reply's text.
ENDS = re.compile(r"\s*(?:<\|(?:im_end|eot_id|eom_id|endoftext|end_of_text|return|call|END_OF_TURN_TOKEN|EOT|eot|user|observation|assistant_end|"
                  r"im_assistant|end_of_role|message_end|role_end|end_of_turn|endofturn|turn_end|EOS|hy_eos|eos|end_of_msg|im_user|end_of_sentence)\|>|"
                  r"<\|tool_response>|</s>|<end_of_turn>|<turn\|>|<eos>|\[e~\[|\[EOT\]|\[\|endofturn\|\]|<｜end▁of▁sentence｜>|<seed:eos>|<｜hy_\S*?｜>|"
                  r"<end_of_utterance>|<SPECIAL_\d+>|<end_of_sentence>|<sep>|</assistant>).*$", re.DOTALL)
TRAILING = re.compile(r"\s*<\|(?:end|eom|message_sep)\|>\s*$")


class Case:
    def __init__(self, calls, text, reason):
        self.calls, self.text, self.reason = CALLS.get(calls, []), TEXTS[text], REASONS[reason]
        self.name = "+".join(part for part in (calls, text, reason) if part)

    def message(self, as_text, kimi):
        message = {"role": "assistant", "content": self.text}
        if self.reason:
            message.update(reasoning_content=self.reason, thinking=self.reason, reasoning=self.reason)
        if self.calls:
            message["tool_calls"] = [{"id": "functions.%s:%d" % (name, i) if kimi else "call0000%d" % i, "type": "function", "function": {
                "name": name, "arguments": json.dumps(arguments, ensure_ascii=False) if as_text else arguments}} for i, (name, arguments) in enumerate(self.calls)]
        return message


def cases():
    for calls in CALLS:
        yield Case(calls, "", "")
    yield from [Case("simple", "text", ""), Case("two", "lines", ""), Case("simple", "", "why"), Case("two", "text", "why"), Case("", "text", ""),
                Case("", "lines", "why"), Case("", "text", "why"), Case("hard", "text", "why")]


def rendered(probe, source, messages, generate, extra):
    answer = probe.render(source, {"add_generation_prompt": generate, **extra}, messages=messages, tools=TOOLS, bos="<|BOS|>", eos="<|EOS|>")
    return answer.get("text")


def reply_of(probe, source, case, extra):
    """(end of the prompt, reply) as the template has them, or None where it has no place for the message."""
    user = [{"role": "user", "content": "Do it."}]
    prompt = rendered(probe, source, user, True, extra)
    for as_text in (False, True):
        whole = rendered(probe, source, user + [case.message(as_text, "tool_call_argument_begin" in source)], False, extra)
        if whole is None or prompt is None:
            continue
        if case.calls and ("{'" in whole[len(prompt) - 40:] or "\\\"city" in whole):
            continue
        common = 0
        while common < min(len(prompt), len(whole)) and prompt[common] == whole[common]:
            common += 1
        if common < len(prompt):
            # They part inside a mark: what they share ends before it.
            mark = whole.rfind("<", 0, common)
            if mark >= 0 and ">" not in whole[mark:common] and common - mark < 24:
                common = mark
        reply = TRAILING.sub("", ENDS.sub("", whole[common:]))
        if any(name not in reply for name, _ in case.calls):
            continue
        return prompt, reply, common == len(prompt), common
    return None


def same(value, other):
    return json.dumps(value, sort_keys=True) == json.dumps(other, sort_keys=True)


def check(probe, source, case, extra):
    """Empty when the reply reads back, else what does not; None where there is nothing to read."""
    found = reply_of(probe, source, case, extra)
    if found is None:
        return None
    prompt, reply, is_prefix, common = found
    # The prompt may say more than the history repeats (an opened thought); a model goes on from it.
    end = prompt if is_prefix else prompt[:common]
    answers = [probe.ask("reply", template=source, prompt=end, tools=[json.dumps(tool) for tool in TOOLS], text=reply, cut=cut) for cut in (0, 1, 2, 7)]
    problems = []
    if any(answer != answers[0] for answer in answers[1:]):
        problems.append("pieces matter")
    answer = answers[0]
    calls = []
    for name, arguments in answer["calls"]:
        try:
            calls.append((name, json.loads(arguments)))
        except ValueError:
            calls.append((name, "not JSON: " + arguments))
    if not same(calls, case.calls):
        problems.append("calls %s" % json.dumps(calls, ensure_ascii=False))
    if case.text and case.text in reply and answer["content"].strip() != case.text:
        problems.append("content %r" % answer["content"])
    if case.text not in reply and case.text:
        problems.append("~text is left out")
    if not case.text and answer["content"].strip():
        problems.append("content %r" % answer["content"])
    if case.reason:
        if case.reason not in reply:
            problems.append("~reasoning is left out")
            if answer["reasoning"]:
                problems.append("reasoning %r" % answer["reasoning"])
        elif answer["reasoning"].strip() != case.reason:
            problems.append("reasoning %r" % answer["reasoning"])
    elif answer["reasoning"].strip():
        problems.append("reasoning %r" % answer["reasoning"])
    return reply, problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("templates", nargs="+", type=pathlib.Path)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    probe = Probe()
    outcomes = collections.Counter()
    for path in options.templates:
        source = path.read_bytes().decode("utf-8")
        bad = []
        for case in cases():
            for extra in ({}, {"enable_thinking": True, "thinking": True}):
                found = check(probe, source, case, extra)
                if found is None:
                    outcomes["not rendered"] += 1
                    continue
                reply, problems = found
                real = [problem for problem in problems if not problem.startswith("~")]
                outcomes["same" if not real else "differ"] += 1
                if real:
                    bad.append((case.name + (" thinking" if extra else ""), reply, real))
                    break
        if bad:
            print("== %s: %d" % (path.name, len(bad)))
            for name, reply, problems in bad[:None if options.verbose else 2]:
                print("  [%s] %r\n      → %s" % (name, reply[:600], "; ".join(problems)[:600]))
    print(dict(outcomes))
    return 1 if outcomes["differ"] else 0


if __name__ == "__main__":
    sys.exit(main())
