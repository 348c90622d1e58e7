"""Many clients at once, some of which go away: every one is answered or cancelled, and no block stays held."""
import asyncio
import random
import re
import unittest

import aiohttp
import quern_program
from quern_program import Serve

SEED = 20260115


async def one(session, url, index, chance):
    """Streams one reply; some clients leave after a few chunks. Returns its text, or None when it left."""
    body = {"messages": [{"role": "user", "content": f"Tell me about number {index}."}], "max_tokens": 24,
            "temperature": 0, "stream": True}
    leaves_after = chance.choice([None, None, 0, 1, 5])
    text, chunks = "", 0
    async with session.post(url + "/v1/chat/completions", json=body) as answer:
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
    def test_32_streams_with_random_cancels(self):
        print("seed", SEED)
        chance = random.Random(SEED)

        async def run(url):
            timeout = aiohttp.ClientTimeout(total=quern_program.PATIENCE * 2)
            async with aiohttp.ClientSession(timeout=timeout, connector=aiohttp.TCPConnector(limit=0)) as session:
                results = await asyncio.gather(*(one(session, url, i, chance) for i in range(32)))
                finished = [r for r in results if r is not None]
                self.assertTrue(finished and len(finished) < 32, "some finish, some leave")
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

        with Serve(quern_program.starter(), arguments=["--ctx", "1024"]) as serve:
            asyncio.run(run(serve.url))
            self.assertEqual(serve.stop(), 0)


if __name__ == "__main__":
    quern_program.main()
