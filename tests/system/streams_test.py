"""Many clients of two models at once, some of which go away: every one is answered or cancelled, no block stays held."""
import asyncio
import os
import random
import re
import tempfile
import unittest

import aiohttp
import quern_program
from quern_program import Serve

SEED = 20260115
COUNT = 64


async def one(session, url, index, chance):
    """Streams one reply; some clients leave after a few chunks. Returns their number, or None when it left."""
    body = {"max_tokens": 24, "temperature": 0, "stream": True}
    if index % 2 == 0:
        path = "/v1/chat/completions"
        body |= {"model": "starter", "messages": [{"role": "user", "content": f"Tell me about number {index}."}]}
    else:  # this one has windows of several widths, and no tokenizer
        path = "/v1/completions"
        body |= {"model": "gemma3", "prompt": [3 + index] * chance.choice([1, 16, 100])}
    leaves_after = chance.choice([None, None, 0, 1, 5])
    text, chunks = "", 0
    async with session.post(url + path, json=body) as answer:
        assert answer.status == 200, await answer.text()
        async for line in answer.content:
            if line.startswith(b"data: {"):
                chunks += 1
                assert b"\xef\xbf\xbd" not in line and b'"error"' not in line, line
            if leaves_after is not None and chunks > leaves_after:
                return None
            if line.startswith(b"data: [DONE]"):
                return chunks
    raise AssertionError(f"stream {index} ended without [DONE] after {chunks} chunks")


def gauge(metrics, name):
    return sum(float(v) for v in re.findall(rf"^{name}{{[^}}]*}} (\S+)$", metrics, re.M))


class Streams(unittest.TestCase):
    def test_64_streams_of_two_models_with_random_cancels(self):
        print("seed", SEED)
        chance = random.Random(SEED)

        async def run(url):
            timeout = aiohttp.ClientTimeout(total=quern_program.PATIENCE * 2)
            async with aiohttp.ClientSession(timeout=timeout, connector=aiohttp.TCPConnector(limit=0)) as session:
                results = await asyncio.gather(*(one(session, url, i, chance) for i in range(COUNT)))
                finished = [r for r in results if r is not None]
                self.assertTrue(finished and len(finished) < COUNT, "some finish, some leave")
                metrics = ""
                for _ in range(200):  # a cancel is honoured at the next step
                    async with session.get(url + "/metrics") as answer:
                        metrics = await answer.text()
                    if gauge(metrics, "vllm:num_requests_running") + gauge(metrics, "vllm:num_requests_waiting") == 0:
                        break
                    await asyncio.sleep(0.05)
                self.assertEqual(gauge(metrics, "vllm:num_requests_running"), 0)
                self.assertEqual(gauge(metrics, "vllm:num_requests_waiting"), 0)
                self.assertEqual(gauge(metrics, "vllm:kv_cache_usage_perc"), 0, "no block is held")
                self.assertEqual(gauge(metrics, "vllm:request_success_total"), COUNT, "each ended once")
                self.assertEqual(gauge(metrics, "vllm:e2e_request_latency_seconds_count"), COUNT)

        with tempfile.TemporaryDirectory() as folder:
            starter = os.path.join(folder, "starter.gguf")
            os.symlink(quern_program.starter(), starter)
            self.serve_and(run, starter, quern_program.golden("models/gemma3"))

    def serve_and(self, run, *models):
        with Serve(*map(str, models), arguments=["--ctx", "256", "--kv-memory", "24M"]) as serve:
            asyncio.run(run(serve.url))
            self.assertEqual(serve.stop(), 0)


if __name__ == "__main__":
    quern_program.main()
