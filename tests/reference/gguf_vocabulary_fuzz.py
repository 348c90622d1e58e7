#!/usr/bin/env python3
"""Vocabularies in GGUF files against the libraries that they were made with.

gguf_vocabulary_fuzz.py [--seed N] [--texts N] [--only WORD]

Byte-level BPE with every splitting that pretokenizers.json names (patterns run by the regex package,
pieces by tokenizers' BPE), SentencePiece BPE and Unigram (trained and run by sentencepiece), BERT's
WordPiece (tokenizers). Needs the golden folder for the patterns ($QUERN_GOLDEN or ../shared/golden).
"""
import argparse
import io
import json
import os
import pathlib
import random
import re
import sys
import tempfile
import warnings

import gguf
import regex
import sentencepiece
import tokenizers
from sentencepiece import sentencepiece_model_pb2
from tokenizers import models, trainers

from probe import ROOT, Probe
from random_texts import corpus, random_text

# Splittings of vocabularies that are not byte-level; kimi-k2's own pattern is not the whole of it.
NO_BYTES = {"gemma4", "granite-embed-multi-311m", "sarvam-moe", "kimi-k2"}
NORMAL, UNKNOWN, CONTROL, USER, UNUSED, BYTE = 1, 2, 3, 4, 5, 6


def byte_alphabet():
    printable = list(range(0x21, 0x7f)) + list(range(0xa1, 0xad)) + list(range(0xae, 0x100))
    alphabet, extra = {}, 0
    for byte in range(256):
        if byte in printable:
            alphabet[byte] = chr(byte)
        else:
            alphabet[byte] = chr(0x100 + extra)
            extra += 1
    return alphabet


LEVEL = byte_alphabet()


def write(path, model, tokens, kinds, scores=None, merges=None, **keys):
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_tokenizer_model(model)
    writer.add_token_list([token.encode() for token in tokens])
    writer.add_token_types(kinds)
    if scores is not None:
        writer.add_token_scores(scores)
    if merges is not None:
        writer.add_token_merges(merges)
    for key, value in keys.items():
        name = "tokenizer.ggml." + key
        if isinstance(value, bool):
            writer.add_bool(name, value)
        elif isinstance(value, int):
            writer.add_uint32(name, value)
        elif isinstance(value, str):
            writer.add_string(name, value)
        else:
            writer.add_array(name, value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


def split(patterns, text):
    pieces = [text]
    for pattern in patterns:
        out = []
        for piece in pieces:
            done = 0
            for match in pattern.finditer(piece):
                if match.start() > done:
                    out.append(piece[done:match.start()])
                if match.end() > match.start():
                    out.append(match.group())
                done = match.end()
            out.append(piece[done:])
        pieces = [piece for piece in out if piece]
    return pieces


class Bpe:
    """A byte-level BPE with a splitting of pretokenizers.json."""

    def __init__(self, rng, name, facts):
        self.name = "pre " + name
        self.pre = name
        self.patterns = [regex.compile(self.portable(pattern)) for pattern in facts["regex"]]
        trained = tokenizers.Tokenizer(models.BPE())
        trained.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
        trained.train_from_iterator(corpus(rng), trainers.BpeTrainer(vocab_size=700, show_progress=False,
                                                                     initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet()))
        model = json.loads(trained.to_str())["model"]
        self.vocab = model["vocab"]
        self.merges = [tuple(merge) for merge in model["merges"]]
        self.model = models.BPE(vocab=self.vocab, merges=self.merges, ignore_merges=facts.get("ignore_merges", False))
        self.extras = []

    @staticmethod
    def portable(pattern):
        # The regex package takes the separators U+001C to U+001F for white space, Unicode does not.
        return pattern

    def save(self, path):
        tokens = [token for token, _ in sorted(self.vocab.items(), key=lambda item: item[1])]
        write(path, "gpt2", tokens, [NORMAL] * len(tokens), merges=[" ".join(merge) for merge in self.merges], pre=self.pre)

    def encode(self, text):
        ids = []
        for piece in split(self.patterns, text):
            ids += [token.id for token in self.model.tokenize("".join(LEVEL[byte] for byte in piece.encode()))]
        return ids


class SentencePiece:
    def __init__(self, rng, kind):
        self.prefix = rng.random() < 0.6
        self.name = "%s prefix=%s" % (kind, self.prefix)
        self.kind = kind
        # No user-defined pieces: the format has them cut out of the raw text, sentencepiece later.
        self.extras = []
        self.squeeze = kind == "unigram" and rng.random() < 0.5
        out = io.BytesIO()
        lines = [line.replace("\n", " ").replace("\x00", "") for line in corpus(rng, 400)]
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines), model_writer=out, vocab_size=rng.choice([1200, 1800]) + 256,
            model_type=kind, byte_fallback=kind == "bpe" or rng.random() < 0.3, minloglevel=2,
            add_dummy_prefix=self.prefix, remove_extra_whitespaces=self.squeeze, hard_vocab_limit=False, split_digits=rng.random() < 0.5,
            normalization_rule_name="identity" if kind == "bpe" else rng.choice(["nmt_nfkc", "nfkc", "identity", "nmt_nfkc_cf"]),
            allow_whitespace_only_pieces=rng.random() < 0.5, character_coverage=rng.choice([0.98, 0.9995]))
        self.processor = sentencepiece.SentencePieceProcessor(model_proto=out.getvalue())
        self.proto = sentencepiece_model_pb2.ModelProto()
        self.proto.ParseFromString(out.getvalue())

    def save(self, path):
        kinds = {1: NORMAL, 2: UNKNOWN, 3: CONTROL, 4: USER, 5: UNUSED, 6: BYTE}
        pieces = self.proto.pieces
        keys = {"add_space_prefix": self.prefix, "unknown_token_id": self.processor.unk_id()}
        if self.kind == "unigram":
            keys["remove_extra_whitespaces"] = self.squeeze
            charsmap = self.proto.normalizer_spec.precompiled_charsmap
            if charsmap:
                keys["precompiled_charsmap"] = charsmap
        write(path, "llama" if self.kind == "bpe" else "t5", [piece.piece for piece in pieces], [kinds[piece.type] for piece in pieces],
              scores=[piece.score for piece in pieces], **keys)

    def encode(self, text):
        return self.processor.encode(text)


class Bert:
    def __init__(self, rng):
        self.name = "bert"
        self.extras = []
        self.tokenizer = tokenizers.BertWordPieceTokenizer(lowercase=True)
        self.tokenizer.train_from_iterator(corpus(rng, 300), vocab_size=900, limit_alphabet=rng.choice([80, 1000]), show_progress=False)

    def save(self, path):
        vocab = sorted(self.tokenizer.get_vocab().items(), key=lambda item: item[1])
        tokens, kinds = [], []
        for token, _ in vocab:
            special = re.fullmatch(r"\[[A-Z]+\]", token)
            tokens.append(token if special else token[2:] if token.startswith("##") else "\u2581" + token)
            kinds.append(CONTROL if special else NORMAL)
        write(path, "bert", tokens, kinds, token_type_count=2)

    def encode(self, text):
        return self.tokenizer.encode(text, add_special_tokens=False).ids


def vocabularies(rng):
    golden = pathlib.Path(os.environ.get("QUERN_GOLDEN", ROOT / "../shared/golden"))
    facts = json.loads((golden / "pretokenizers.json").read_text(encoding="utf-8"))
    for name, fact in facts.items():
        if name in NO_BYTES:
            continue
        yield name, lambda name=name, fact=fact: Bpe(rng, name, fact)
    for number in range(8):
        yield "bpe", lambda: SentencePiece(rng, "bpe")
        yield "unigram", lambda: SentencePiece(rng, "unigram")
        yield "bert", lambda: Bert(rng)


def main():
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--texts", type=int, default=200)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    print("seed", options.seed)
    rng = random.Random(options.seed)
    probe = Probe()
    checked = differing = 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "vocabulary.gguf"
        for name, make in vocabularies(rng):
            if options.only and not re.fullmatch(options.only, name):
                continue
            vocabulary = make()
            path.unlink(missing_ok=True)
            vocabulary.save(path)
            loaded = probe.ask("load", path=str(path))
            if "error" in loaded:
                print("refused: %s: %s" % (vocabulary.name, loaded["error"]))
                continue
            found = 0
            for _ in range(options.texts):
                text = random_text(rng, vocabulary.extras)
                expected = vocabulary.encode(text)
                ours = probe.ask("encode", text=text, special=False, parse=False)
                checked += 1
                if ours.get("ids") == expected:
                    continue
                found += 1
                if found <= 2:
                    text = shrink(probe, vocabulary, text)
                    expected, ours = vocabulary.encode(text), probe.ask("encode", text=text, special=False, parse=False)
                    print("---- %s: %r\n  reference %r\n  ours      %r" % (vocabulary.name, text, expected, ours.get("ids", ours)))
            differing += found
            if found:
                print("  %d of %d texts differ" % (found, options.texts))
    print("%d texts, %d differ" % (checked, differing))
    return 1 if differing else 0


def shrink(probe, vocabulary, text):
    def differs(candidate):
        return probe.ask("encode", text=candidate, special=False, parse=False).get("ids") != vocabulary.encode(candidate)
    for size in (16, 8, 4, 2, 1, 1):
        at = 0
        while at < len(text):
            candidate = text[:at] + text[at + size:]
            if differs(candidate):
                text = candidate
            else:
                at += size
    return text


if __name__ == "__main__":
    sys.exit(main())
