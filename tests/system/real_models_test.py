"""Real models from PyPI against float32 truth (golden/real), in every tiling."""
import unittest

import quern_program
from quern_program import golden, quern


class RealModels(unittest.TestCase):
    def verify(self, model, expected):
        ran = quern("verify", model, "--expected", golden(expected), "--chunk", 13, "--batch", 2, "--threads", 1,
                    "--prefix", timeout=900)
        self.assertEqual(ran.returncode, 0, (ran.stdout + ran.stderr).decode())
        # Quantized weights are run twice, and both must pass.
        for run in (b"activations f32, KV cache f32", b"activations q8, KV cache f16"):
            self.assertIn(run, ran.stdout)
        self.assertRegex(ran.stdout.decode().splitlines()[-1], r"^pass: (\d+) of \1 cases within the bar")

    def test_smollm2_q4_1(self):
        self.verify(quern_program.starter(), "real/smollm2-135m-instruct-q4_1.json")

    def test_gemma_3_q4_k_m(self):
        self.verify(quern_program.fetched("gemma-3-270m-q4_k_m"), "real/gemma-3-270m-q4_k_m.json")


if __name__ == "__main__":
    quern_program.main()
