#!/usr/bin/env python3
"""Random tokenizer.json files, run by the tokenizers package and by ours.

tokenizer_json_fuzz.py [--seed N] [--count N] [--texts N] [--keep FOLDER]

Each file is a random mix of normalizers, pre-tokenizers, model, added tokens, post-processor and
decoder; each text is compared in its ids, its ids with special tokens, and what they decode to. A
file that ours refuses by name is counted and not compared.
"""
import argparse
import collections
import json
import pathlib
import random
import sys
import tempfile

import tokenizers
from tokenizers import models, trainers

from probe import Probe
from random_texts import corpus, random_text

METASPACE = "\u2581"
GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
O200K = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+"
         r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
PATTERNS = [GPT2, LLAMA3, O200K, r"\d{1,3}(?=(?:\d{3})*\b)", r"[\r\n]", r"\s?\p{L}+", r"\s+", r"\d", r"[一-龥぀-ゟ゠-ヿ]+", r"\p{N}{1,3}", r"\w+|[^\w\s]+", r"\s+$",
            r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+", r"(?<=a)b|x", r"\p{Han}+",
            r" ", r"[^\S\n]+", r"(?:\r?\n)+(?!\r?\n)", r"\p{Lu}+|\p{Ll}+", r"[[:punct:]]", r"(?i)hello|the", r"[\s\S]{1,5}"]
BEHAVIORS = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]


def flag(rng, share=0.5):
    return rng.random() < share


def pattern(rng):
    if flag(rng, 0.25):
        return {"String": rng.choice([" ", "a", "the", ".", METASPACE, "\n", "e", "  ", "'", "é"])}
    return {"Regex": rng.choice(PATTERNS)}


def normalizer(rng, depth=0):
    kind = rng.randint(0, 15)
    if kind <= 1 and depth < 2:
        return {"type": "Sequence", "normalizers": [normalizer(rng, depth + 1) for _ in range(rng.randint(0, 3))]}
    if kind <= 4:
        return {"type": rng.choice(["NFC", "NFD", "NFKC", "NFKD"])}
    if kind == 5:
        return {"type": "Lowercase"}
    if kind == 6:
        return {"type": "Strip", "strip_left": flag(rng), "strip_right": flag(rng)}
    if kind == 7:
        return {"type": "StripAccents"}
    if kind <= 9:
        return {"type": "Replace", "pattern": rng.choice([pattern(rng), {"String": " "}, {"Regex": " {2,}"}, {"String": "``"}]),
                "content": rng.choice(["", " ", METASPACE, "x", "$1", "é", "\\"])}
    if kind == 10:
        return {"type": "Prepend", "prepend": rng.choice([METASPACE, " ", "ab"])}
    if kind <= 12:
        return {"type": "BertNormalizer", "clean_text": flag(rng), "handle_chinese_chars": flag(rng),
                "strip_accents": rng.choice([None, True, False]), "lowercase": flag(rng)}
    if kind == 13:
        return {"type": "Nmt"}
    if kind == 14:
        return {"type": "ByteLevel"} if flag(rng, 0.2) else {"type": "NFKC"}
    return {"type": "NFKD"}


def pre_tokenizer(rng, depth=0):
    kind = rng.randint(0, 19)
    if kind <= 2 and depth < 2:
        return {"type": "Sequence", "pretokenizers": [pre_tokenizer(rng, depth + 1) for _ in range(rng.randint(0, 3))]}
    if kind <= 5:
        return {"type": "ByteLevel", "add_prefix_space": flag(rng), "trim_offsets": flag(rng), "use_regex": flag(rng, 0.7)}
    if kind <= 9:
        return {"type": "Split", "pattern": pattern(rng), "behavior": rng.choice(BEHAVIORS), "invert": flag(rng, 0.3)}
    if kind == 10:
        return {"type": rng.choice(["Whitespace", "WhitespaceSplit"])}
    if kind == 11:
        return {"type": "Punctuation", "behavior": rng.choice(BEHAVIORS)}
    if kind == 12:
        return {"type": "Digits", "individual_digits": flag(rng)}
    if kind <= 15:
        return {"type": "Metaspace", "replacement": rng.choice([METASPACE, METASPACE, "_"]), "prepend_scheme": rng.choice(["always", "first", "never"]),
                "split": flag(rng, 0.7)}
    if kind == 16:
        return {"type": "BertPreTokenizer"}
    if kind == 17:
        return {"type": "UnicodeScripts"}
    if kind == 18:
        return {"type": "CharDelimiterSplit", "delimiter": rng.choice([" ", "a", "-", "é"])}
    return {"type": "FixedLength", "length": rng.randint(1, 5)} if flag(rng, 0.3) else {"type": "WhitespaceSplit"}


def decoder(rng, depth=0):
    kind = rng.randint(0, 12)
    if kind <= 2 and depth < 1:
        return {"type": "Sequence", "decoders": [decoder(rng, depth + 1) for _ in range(rng.randint(1, 4))]}
    if kind <= 4:
        return {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    if kind == 5:
        return {"type": "Metaspace", "replacement": METASPACE, "prepend_scheme": rng.choice(["always", "first", "never"]), "split": flag(rng)}
    if kind == 6:
        return {"type": "WordPiece", "prefix": rng.choice(["##", "", "@@"]), "cleanup": flag(rng)}
    if kind == 7:
        return {"type": "BPEDecoder", "suffix": rng.choice(["</w>", "@@"])}
    if kind == 8:
        return {"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": flag(rng)}
    if kind == 9:
        return {"type": "ByteFallback"}
    if kind == 10:
        return {"type": "Fuse"}
    if kind == 11:
        return {"type": "Strip", "content": rng.choice([" ", "a", METASPACE]), "start": rng.randint(0, 2), "stop": rng.randint(0, 2)}
    return {"type": "Replace", "pattern": rng.choice([{"String": METASPACE}, {"Regex": r"\s+"}, {"String": "a"}]), "content": rng.choice([" ", "", "xy"])}


LLAMA_DECODER = {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": METASPACE}, "content": " "}, {"type": "ByteFallback"},
                                                  {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]}


def usual(rng):
    """The parts as real files have them together; (normalizer, pre-tokenizer, decoder, model kind)."""
    byte_level = {"type": "ByteLevel", "add_prefix_space": flag(rng, 0.3), "trim_offsets": True, "use_regex": False}
    byte_decoder = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    metaspace = {"type": "Metaspace", "replacement": METASPACE, "prepend_scheme": rng.choice(["always", "first", "never"]), "split": flag(rng, 0.7)}
    kind = rng.randint(0, 7)
    if kind == 0:
        return None, dict(byte_level, use_regex=True), byte_decoder, "BPE-bytes"
    if kind == 1:
        return rng.choice([None, {"type": "NFC"}]), {"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": rng.choice([GPT2, LLAMA3, O200K])}, "behavior": rng.choice(["Isolated", "Removed"]), "invert": flag(rng, 0.3)},
            byte_level]}, byte_decoder, "BPE-bytes"
    if kind == 2:
        return None, {"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": True}, {"type": "Punctuation", "behavior": "Contiguous"},
                                                          dict(byte_level, use_regex=True)]}, byte_decoder, "BPE-bytes"
    if kind == 3:
        return {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": METASPACE}, {"type": "Replace", "pattern": {"String": " "}, "content": METASPACE}]}, \
            None, LLAMA_DECODER, "BPE-fallback"
    if kind == 4:
        return {"type": "Replace", "pattern": {"String": " "}, "content": METASPACE}, {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}, \
            {"type": "Sequence", "decoders": LLAMA_DECODER["decoders"][:3]}, "BPE-fallback"
    if kind == 5:
        return rng.choice([{"type": "NFKC"}, {"type": "Sequence", "normalizers": [{"type": "Nmt"}, {"type": "NFKC"}, {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}]}]), \
            metaspace, {"type": "Metaspace", "replacement": METASPACE, "prepend_scheme": metaspace["prepend_scheme"], "split": True}, "Unigram"
    if kind == 6:
        lower = flag(rng)
        return {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": lower}, {"type": "BertPreTokenizer"}, \
            {"type": "WordPiece", "prefix": "##", "cleanup": True}, "WordPiece"
    return {"type": "Lowercase"}, {"type": "Whitespace"}, {"type": "BPEDecoder", "suffix": "</w>"}, "BPE-suffix"


def train(rng, norm, pre, kind):
    """The model part, trained on a small corpus in the random pipeline."""
    bare = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": norm, "pre_tokenizer": pre,
            "post_processor": None, "decoder": None}
    size = rng.choice([150, 400, 900])
    unk = rng.choice(["<unk>", "[UNK]"])
    texts = corpus(rng)
    if kind.startswith("BPE"):
        model, options = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None,
                          "fuse_unk": False, "byte_fallback": False, "ignore_merges": False, "vocab": {}, "merges": []}, {}
        trained = tokenizers.Tokenizer.from_str(json.dumps(dict(bare, model=model)))
        special = []
        if kind == "BPE-bytes":
            options["initial_alphabet"] = tokenizers.pre_tokenizers.ByteLevel.alphabet()
            size += 256
        elif kind == "BPE-fallback":
            special = [unk] + ["<0x%02X>" % b for b in range(256)]
            size += 256
            options["limit_alphabet"] = 80
        else:
            special = [unk]
            options["limit_alphabet"] = rng.choice([60, 1000])
            if kind == "BPE-suffix":
                options["end_of_word_suffix"] = "</w>"
            if kind == "BPE-prefix":
                options["continuing_subword_prefix"] = "##"
        trained.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=size, special_tokens=special, show_progress=False, **options))
        model = json.loads(trained.to_str())["model"]
        if special:
            model["unk_token"] = rng.choice([unk, unk, None])
        if kind == "BPE-fallback":
            model["byte_fallback"] = flag(rng, 0.85)
        model["fuse_unk"] = flag(rng)
        model["ignore_merges"] = flag(rng, 0.3)
        return model
    if kind == "Unigram":
        trained = tokenizers.Tokenizer.from_str(json.dumps(dict(bare, model={"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0]], "byte_fallback": False})))
        special = ["<unk>", "<s>", "</s>"]
        fallback = flag(rng, 0.4)
        if fallback:
            special += ["<0x%02X>" % b for b in range(256)]
        trained.train_from_iterator(texts, trainers.UnigramTrainer(vocab_size=size + len(special), special_tokens=special, unk_token="<unk>", show_progress=False))
        model = json.loads(trained.to_str())["model"]
        model["byte_fallback"] = fallback
        return model
    if kind == "WordPiece":
        trained = tokenizers.Tokenizer.from_str(json.dumps(dict(bare, model={"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                                                                            "max_input_chars_per_word": 100, "vocab": {"[UNK]": 0}})))
        trained.train_from_iterator(texts, trainers.WordPieceTrainer(vocab_size=size, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"], show_progress=False,
                                                                     limit_alphabet=rng.choice([60, 1000])))
        model = json.loads(trained.to_str())["model"]
        model["max_input_chars_per_word"] = rng.choice([100, 100, 5])
        return model
    trained = tokenizers.Tokenizer.from_str(json.dumps(dict(bare, model={"type": "WordLevel", "vocab": {"[UNK]": 0}, "unk_token": "[UNK]"})))
    trained.train_from_iterator(texts, trainers.WordLevelTrainer(vocab_size=size, special_tokens=["[UNK]", "[CLS]", "[SEP]"], show_progress=False))
    return json.loads(trained.to_str())["model"]


def added_tokens(rng, vocab, next_id, strips):
    tokens, extras = [], []
    contents = ["<s>", "</s>", "<|im_start|>", "<|endoftext|>", "[CLS]", "[SEP]", "[MASK]", "<mask>", "New York", "hello", "Hello", "é", "  ", "\n\n", "the", " of",
                "<0x0A>", "ÀÉ", "[INST]", "a", "你好", "\u2581x", "<pad>", "http", "don't", "ﬁ"]
    for content in rng.sample(contents, rng.randint(0, 7)):
        if content.strip() == "" and strips:
            continue  # would be an empty token once it is normalized
        if content in vocab:
            ident = vocab[content]
        else:
            ident = next_id
            next_id += 1
        # A special token in the model's own vocabulary could also come from the model.
        special = (content[0] in "<[" or flag(rng, 0.2)) and content != "<0x0A>" and content not in vocab
        tokens.append({"id": ident, "content": content, "single_word": flag(rng, 0.15), "lstrip": flag(rng, 0.2), "rstrip": flag(rng, 0.2),
                       "normalized": not special and flag(rng, 0.7), "special": special})
        extras.append(content)
        if len(content) > 2:
            extras.append(content[:-1])
    for name in vocab:
        if name in ("<unk>", "[UNK]", "[PAD]", "[CLS]", "[SEP]", "<s>", "</s>") and flag(rng, 0.7) and not any(t["content"] == name for t in tokens):
            tokens.append({"id": vocab[name], "content": name, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True})
            extras.append(name)
    tokens.sort(key=lambda token: token["id"])
    return tokens, extras


def post_processor(rng, named, depth=0):
    kind = rng.randint(0, 7)
    names = list(named)
    if kind <= 1 or len(names) < 2:
        return rng.choice([None, {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": flag(rng), "use_regex": True}])
    a, b = rng.sample(names, 2)
    if kind == 2:
        return {"type": "BertProcessing", "sep": [b, named[b]], "cls": [a, named[a]]}
    if kind == 3:
        return {"type": "RobertaProcessing", "sep": [b, named[b]], "cls": [a, named[a]], "trim_offsets": flag(rng), "add_prefix_space": flag(rng)}
    if kind == 4 and depth == 0:
        return {"type": "Sequence", "processors": [p for p in (post_processor(rng, named, 1) for _ in range(2)) if p]}
    special = lambda name, t=0: {"SpecialToken": {"id": name, "type_id": t}}
    text = lambda name, t=0: {"Sequence": {"id": name, "type_id": t}}
    single = rng.choice([[special(a), text("A")], [special(a), text("A"), special(b)], [text("A"), special(b)], [special(a), special(b), text("A")]])
    return {"type": "TemplateProcessing", "single": single, "pair": [special(a), text("A"), special(b), text("B", 1), special(b, 1)],
            "special_tokens": {name: {"id": name, "ids": [named[name]] * rng.choice([1, 1, 1, 2]), "tokens": [name]} for name in (a, b)}}


def random_file(rng):
    if flag(rng, 0.6):
        norm, pre, dec, kind = usual(rng)
        if flag(rng, 0.15):
            norm = normalizer(rng)
        if flag(rng, 0.1):
            dec = decoder(rng)
    else:
        norm = normalizer(rng) if flag(rng, 0.8) else None
        pre = pre_tokenizer(rng) if flag(rng, 0.85) else None
        dec = decoder(rng) if flag(rng, 0.9) else None
        kind = rng.choice(["BPE-bytes", "BPE-fallback", "BPE-plain", "BPE-suffix", "BPE-prefix", "Unigram", "WordPiece", "WordLevel"])
    model = train(rng, norm, pre, kind)
    vocab = model["vocab"] if isinstance(model["vocab"], dict) else {piece: i for i, (piece, _) in reversed(list(enumerate(model["vocab"])))}
    tokens, extras = added_tokens(rng, vocab, len(model["vocab"]), "Strip" in json.dumps(norm))
    unknown = ("<unk>", "[UNK]", "[PAD]")
    named = {token["content"]: token["id"] for token in tokens if token["special"] and token["content"] not in unknown}
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": tokens, "normalizer": norm, "pre_tokenizer": pre,
            "post_processor": post_processor(rng, named), "decoder": dec, "model": model}, extras


def compare(probe, reference, text):
    """What differs, or None."""
    plain = []
    for special in (False, True):
        try:
            expected = reference.encode(text, add_special_tokens=special).ids
        except BaseException as error:
            expected = None
        ours = probe.ask("encode", text=text, special=special, parse=True)
        if expected is None:
            continue
        if special and expected[:1] == plain[:1] and expected[:1] != []:
            continue  # such as begin with what is added are not given it twice
        plain = plain or expected
        if ours.get("ids") != expected:
            return ("ids with special" if special else "ids", expected, ours.get("ids", ours.get("error")))
        if special:
            continue
        for skip in (False, True):
            try:
                decoded = reference.decode(expected, skip_special_tokens=skip)
            except BaseException:
                continue
            answer = probe.ask("decode", ids=expected, skip=skip)
            got = bytes.fromhex(answer["hex"]).decode("utf-8", "replace")
            if got != decoded:
                return ("decoded" + (" skipping" if skip else ""), decoded, got)
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--texts", type=int, default=25)
    parser.add_argument("--only", type=int, help="just the file of this number")
    parser.add_argument("--keep", type=pathlib.Path, help="where files that differ are left")
    options = parser.parse_args()
    print("seed", options.seed)
    probe = Probe()
    outcomes = collections.Counter()
    refusals = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "tokenizer.json"
        for number in range(options.count):
            if options.only is not None and number != options.only:
                continue
            rng = random.Random("%d/%d" % (options.seed, number))
            try:
                document, extras = random_file(rng)
                reference = tokenizers.Tokenizer.from_str(json.dumps(document))
            except BaseException as error:  # the reference itself does not take this mix
                outcomes["not made"] += 1
                refusals["reference: " + str(error)[:80]] += 1
                continue
            path.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
            loaded = probe.ask("load", path=folder)
            if "error" in loaded:
                outcomes["refused"] += 1
                refusals["ours: " + loaded["error"][:110]] += 1
                continue
            found = None
            for _ in range(options.texts):
                text = random_text(rng, extras)
                outcomes["texts"] += 1
                found = compare(probe, reference, text)
                if found:
                    break
            outcomes["differ" if found else "same"] += 1
            if found:
                for shorter in shrink(probe, reference, text):
                    text = shorter
                found = compare(probe, reference, text)
                parts = {key: document[key] for key in ("normalizer", "pre_tokenizer", "decoder", "post_processor")}
                parts["model"] = {key: value for key, value in document["model"].items() if key not in ("vocab", "merges")}
                parts["added"] = [t for t in document["added_tokens"] if t["content"] in text or t["special"] is False]
                print("---- file %d: %s of %r\n  reference %r\n  ours      %r" % (number, found[0], text, found[1], found[2]))
                if isinstance(found[1], list):
                    names = lambda ids: [reference.id_to_token(i) for i in ids] if isinstance(ids, list) else ids
                    print("  reference %r\n  ours      %r" % (names(found[1]), names(found[2])))
                print("  " + json.dumps(parts, ensure_ascii=False)[:1500])
                if options.keep:
                    options.keep.mkdir(parents=True, exist_ok=True)
                    (options.keep / ("%d-%d.json" % (options.seed, number))).write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    print(dict(outcomes))
    for reason, count in refusals.most_common():
        print("  %d x %s" % (count, reason))
    return 1 if outcomes["differ"] else 0


def shrink(probe, reference, text):
    """Ever shorter texts that still differ."""
    changed = True
    while changed:
        changed = False
        for size in (16, 8, 4, 2, 1):
            at = 0
            while at < len(text):
                candidate = text[:at] + text[at + size:]
                if compare(probe, reference, candidate):
                    text = candidate
                    changed = True
                    yield text
                else:
                    at += size


if __name__ == "__main__":
    sys.exit(main())
