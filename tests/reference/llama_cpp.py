#!/usr/bin/env python3
"""Whether llama.cpp gives a reference's answers for a GGUF file, as one that quern wrote.

    pip install cffi numpy xllamacpp==2026.10.11549 llama-cpp-py-sync==0.11548
    llama_cpp.py MODEL.gguf EXPECTED.json

The library comes with the first package, the declarations of its functions with the second, whose own
library asks for a newer libc. float32 cache, no flash attention, one thread.
"""

import json
import re
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy
import xllamacpp
from cffi import FFI

TOKENS = 256
MEAN, FIRST = 1, 2  # llama_pooling_type


def load_library():
    bindings = Path(find_spec("llama_cpp_py_sync").origin).parent / "_cffi_bindings.py"
    declarations = re.search(r'_LLAMA_H_CDEF = """(.*?)"""', bindings.read_text(), re.DOTALL).group(1)
    ffi = FFI()
    ffi.cdef(declarations)
    return ffi, ffi.dlopen(str(Path(xllamacpp.__file__).parent / "xllamacpp.abi3.so"))


class Rival:
    def __init__(self, model):
        self.ffi, self.lib = load_library()
        self.errors = []
        self.log = self.ffi.callback("void(enum ggml_log_level, const char *, void *)", self.note)
        self.lib.llama_log_set(self.log, self.ffi.NULL)
        self.lib.llama_backend_init()
        options = self.lib.llama_model_default_params()
        options.n_gpu_layers = 0
        options.use_extra_bufts = False
        self.model = self.lib.llama_model_load_from_file(str(model).encode(), options)
        if self.model == self.ffi.NULL:
            sys.exit("it does not load: " + " ".join(self.errors).replace("\n", " "))
        self.vocab = self.lib.llama_vocab_n_tokens(self.lib.llama_model_get_vocab(self.model))

    def note(self, level, text, _):
        if level == 4:  # GGML_LOG_LEVEL_ERROR
            self.errors.append(self.ffi.string(text).decode(errors="replace"))

    def context(self, pooling=None):
        options = self.lib.llama_context_default_params()
        options.n_ctx = options.n_batch = options.n_ubatch = TOKENS
        options.n_threads = options.n_threads_batch = 1
        options.type_k = options.type_v = 0  # GGML_TYPE_F32
        options.flash_attn_type = 0
        if pooling is not None:
            options.embeddings = True
            options.pooling_type = pooling
        return self.lib.llama_init_from_model(self.model, options)

    def run(self, context, ids, rows_from, encodes):
        batch = self.lib.llama_batch_init(len(ids), 0, 1)
        batch.n_tokens = len(ids)
        for i, token in enumerate(ids):
            batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.seq_id[i][0] = token, i, 1, 0
            batch.logits[i] = i >= rows_from
        failed = (self.lib.llama_encode if encodes else self.lib.llama_decode)(context, batch)
        self.lib.llama_batch_free(batch)
        if failed:
            sys.exit(f"llama.cpp fails with {failed}")

    def floats(self, pointer, count):
        return numpy.frombuffer(self.ffi.buffer(pointer, 4 * count), dtype=numpy.float32).copy()

    def vector(self, ids, pooling, size):
        context = self.context(pooling)
        self.run(context, ids, 0, True)
        result = self.floats(self.lib.llama_get_embeddings_seq(context, 0), size)
        self.lib.llama_free(context)
        return result

    def logits(self, ids, first):
        context = self.context()
        self.run(context, ids, first, False)
        rows = [self.floats(self.lib.llama_get_logits_ith(context, i), self.vocab) for i in range(first, len(ids))]
        self.lib.llama_free(context)
        return rows


def main():
    rival = Rival(sys.argv[1])
    furthest, right, certain = 0.0, 0, 0
    for case in json.loads(Path(sys.argv[2]).read_text())["cases"]:
        if "mean_pooled" in case:
            pairs = [(rival.vector(case["ids"], kind, len(case[key])), case[key])
                     for key, kind in (("mean_pooled", MEAN), ("first_token", FIRST))]
        else:
            rows = rival.logits(case["ids"] + case["greedy"][:-1], len(case["ids"]) - 1)
            pairs = [(rows[0][: len(case["last_logits"])], case["last_logits"])]
            bar = 1e-3 * max(map(abs, case["last_logits"]))
            sure = [i for i, gap in enumerate(case["gap"]) if gap > bar]
            certain += len(sure)
            right += sum(int(rows[i].argmax()) == case["greedy"][i] for i in sure)
        for found, wanted in pairs:
            wanted = numpy.array(wanted)
            furthest = max(furthest, float(abs(found - wanted).max() / abs(wanted).max()))
    print(f"{furthest:.1e} of the largest, greedy {right} of {certain}")


if __name__ == "__main__":
    main()
