#!/usr/bin/env python3
"""Tiny random models of every kind, answered by the reference implementation, verified by quern.

    pip install -r requirements-models.txt
    random_models.py --quern build/release/bin/quern --out /tmp/models --count 10 [KIND …]

Each model is a Hugging Face folder as people publish them: either generation of configuration keys,
values left out that are the class's defaults, one file or shards, BF16, F16 or F32. What is expected
is what transformers makes of that very folder in float32 with eager attention, in the format of the
golden data. A model that fails stays in --out with what quern said of it in verdict.txt; the rest is
removed unless --keep. The exit code is 1 when any failed, and when of a kind nothing was tested because
the reference refused every seed.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

warnings.filterwarnings("ignore")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

import torch
import transformers

from kinds import ENCODERS, KINDS, Choice

transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()
LENGTHS = (1, 5, 17, 48, 100)
GREEDY = 12
DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32}


def fill(model, generator):
    """Weights that keep the variance of what passes, so that no logit and no choice is degenerate."""
    for name, p in list(model.named_parameters()) + list(model.named_buffers()):
        if not p.is_floating_point() or "rotary" in name or "inv_freq" in name:
            continue
        noise = torch.randn(p.shape, generator=generator)
        short = name.rsplit(".", 1)[-1]
        if short in ("A_log", "D", "dt_bias"):
            p.data.add_(0.1 * noise)
        elif "conv" in name and p.dim() == 3 and p.shape[1] == 1:
            p.data.copy_(noise / p.shape[-1] ** 0.5 * 1.6)
        elif p.dim() == 1 or "norm" in name:
            if "norm" in name.lower() or name.split(".")[-2].startswith("ln_"):
                if short == "weight":
                    p.data.add_(0.2 * noise)
                else:
                    p.data.copy_(0.1 * noise)
            elif "correction_bias" in name:
                p.data.copy_(0.3 * noise)
            else:
                p.data.copy_(0.1 * noise)
        elif "embed" in name or "wte" in name or "wpe" in name:
            p.data.copy_(0.2 * noise)
        elif "bias" in short:
            p.data.copy_(0.1 * noise)
        else:
            fan_in = p.shape[-1] if p.dim() == 2 else p.shape[1]
            p.data.copy_(noise * 1.6 / fan_in**0.5)


def is_encoder(kind):
    return kind in ENCODERS


def class_of(kind):
    return transformers.AutoModel if is_encoder(kind) else transformers.AutoModelForCausalLM


def old_style(config):
    """The keys of transformers 4."""
    rope = config.pop("rope_parameters", None)
    if "dtype" in config:
        config["torch_dtype"] = config.pop("dtype")
    kind = config["model_type"]
    if rope is None or kind == "olmo3":  # of the old keys its class reads one theta, and not for all layers
        if rope is not None:
            config["rope_parameters"] = rope
        return
    if "full_attention" in rope:
        full, local = rope["full_attention"], rope["sliding_attention"]
        if kind == "modernbert":
            config["global_rope_theta"] = full.pop("rope_theta")
            config["local_rope_theta"] = local.pop("rope_theta")
            if full["rope_type"] != "default":
                config["rope_parameters"] = rope  # there was no key for it
                full["rope_theta"] = config.pop("global_rope_theta")
                local["rope_theta"] = config.pop("local_rope_theta")
            return
        config["rope_theta"] = full.pop("rope_theta")
        config["rope_local_base_freq"] = local.pop("rope_theta")
        rope = full
    else:
        theta = rope.pop("rope_theta")
        config["rotary_emb_base" if kind == "gpt_neox" else "rope_theta"] = theta
        if "partial_rotary_factor" in rope:
            config["rotary_pct" if kind == "gpt_neox" else "partial_rotary_factor"] = rope.pop(
                "partial_rotary_factor"
            )
    if rope.get("rope_type", "default") != "default" or kind == "gpt_oss":  # whose default is YaRN
        config["rope_scaling"] = rope
        if config.get("max_position_embeddings", 0) % 3 == 0 or kind == "phi3":
            rope["type"] = rope.pop("rope_type")


def leave_out_defaults(config, config_class, r):
    """Some keys that equal what the class takes for them."""
    standard = config_class()
    for key in list(config):
        if key in ("model_type", "architectures", "vocab_size", "dtype", "torch_dtype"):
            continue
        if getattr(standard, key, object()) == config[key] and r.maybe(0.5):
            del config[key]


def write_model(kind, seed, folder):
    """The folder; returns what was chosen, for people."""
    r = Choice(f"{kind} {seed}")
    arguments = KINDS[kind](r)
    config = transformers.CONFIG_MAPPING[kind](**arguments)
    config._attn_implementation = "eager"
    model = class_of(kind).from_config(config, attn_implementation="eager")
    model.eval()
    fill(model, torch.Generator().manual_seed(seed * 7919 + len(kind)))
    dtype = r.of("bfloat16", "bfloat16", "float16", "float32")
    model.to(DTYPES[dtype])
    model.config.dtype = dtype
    model.save_pretrained(folder, max_shard_size=r.of("5GB", "5GB", "100KB"))
    path = folder / "config.json"
    written = json.loads(path.read_text())
    style = r.of("v5", "v4")
    if style == "v4":
        old_style(written)
        written["transformers_version"] = "4.51.0"
        if r.maybe() and kind in ("gemma2", "gemma3_text", "cohere2", "modernbert") and "layer_types" not in arguments:
            written.pop("layer_types", None)
        if kind in ("qwen2", "qwen3", "qwen2_moe", "smollm3") and "layer_types" not in arguments and r.maybe():
            written.pop("layer_types", None)
            # transformers 4 kept the window beside the switch that turns it off.
            written["sliding_window"] = arguments["sliding_window"]
    leave_out_defaults(written, type(config), r)
    path.write_text(json.dumps(written, indent=2))
    (folder / "generation_config.json").unlink(missing_ok=True)
    return f"{kind} {seed}: {style}, {dtype}"


def reference_of(kind, folder):
    model, info = class_of(kind).from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager", output_loading_info=True
    )
    wrong = [key for key in ("missing_keys", "unexpected_keys", "mismatched_keys") if info.get(key)]
    if wrong:
        raise RuntimeError(f"the reference cannot load what it wrote: {info}")
    return model.eval()


def rounded(values, digits):
    return [round(float(v), digits) for v in values]


@torch.no_grad()
def expected_of(kind, folder, lengths=LENGTHS):
    model = reference_of(kind, folder)
    vocab = model.config.vocab_size
    generator = torch.Generator().manual_seed(5)
    cases = []
    for length in lengths:
        ids = torch.randint(4, vocab, (1, length), generator=generator)
        if is_encoder(kind):
            rows = model(input_ids=ids).last_hidden_state[0]
            cases.append(
                dict(ids=ids[0].tolist(), mean_pooled=rounded(rows.mean(0), 7), first_token=rounded(rows[0], 7))
            )
            continue
        case = dict(ids=ids[0].tolist(), last_logits=None, greedy=[], gap=[])
        for _ in range(GREEDY):
            row = model(input_ids=ids, use_cache=False).logits[0, -1]
            if case["last_logits"] is None:
                case["last_logits"] = rounded(row, 7)
            best = torch.topk(row, 2)
            case["greedy"].append(int(best.indices[0]))
            case["gap"].append(round(float(best.values[0] - best.values[1]), 6))
            ids = torch.cat([ids, best.indices[:1].view(1, 1)], 1)
        cases.append(case)
    named = f"transformers {transformers.__version__}, torch {torch.__version__}, float32, eager attention"
    return dict(reference=named, cases=cases)


def verify(quern, model, expected, kind):
    arguments = [quern, "verify", str(model), "--expected", str(expected), "--batch", "3"]
    if not is_encoder(kind):
        arguments += ["--chunk", "7", "--prefix"]
    return subprocess.run(arguments, capture_output=True, text=True, timeout=600)


def try_one(args, kind, seed):
    folder = args.out / f"{kind}-{seed}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        chosen = write_model(kind, seed, folder)
        expected = folder / "expected.json"
        expected.write_text(json.dumps(expected_of(kind, folder)))
        if "NaN" in expected.read_text():
            raise RuntimeError("the reference gives NaN")
    except Exception as error:  # the reference refuses the combination
        print(f"skip  {kind} {seed}: {type(error).__name__}: {str(error)[:200]}", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        return "skip"
    result = verify(args.quern, folder, expected, kind)
    verdict = "ok" if result.returncode == 0 else "REFUSED" if result.returncode == 2 else "WRONG"
    if verdict == "ok" and args.gguf:
        written = folder / "model.gguf"
        imported = subprocess.run(
            [args.quern, "models", "import", str(folder), "-q", "F32", "-o", str(written)],
            capture_output=True, text=True, timeout=600)
        if imported.returncode == 0:
            result = verify(args.quern, written, expected, kind)
            verdict = "ok" if result.returncode == 0 else "GGUF"
        else:
            chosen += ", no GGUF: " + imported.stderr.strip().splitlines()[-1][:160]
    said = (result.stderr if verdict == "REFUSED" else result.stdout).strip().splitlines()
    why = f": {said[0]}" if verdict == "REFUSED" and said else ""
    print(f"{verdict:8}{chosen}{why}", flush=True)
    if verdict == "ok" and not args.keep:
        shutil.rmtree(folder)
    elif verdict != "ok":
        (folder / "verdict.txt").write_text(result.stdout + result.stderr)
    return verdict


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quern", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=5, help="seeds a kind")
    parser.add_argument("--gguf", action="store_true", help="also what quern writes of the folder as GGUF")
    parser.add_argument("--keep", action="store_true", help="keep models that pass")
    parser.add_argument("kinds", nargs="*", default=[], metavar="KIND")
    args = parser.parse_args()
    torch.set_num_threads(1)
    tally = {}
    for kind in args.kinds or KINDS:
        for seed in range(args.first, args.first + args.count):
            verdict = try_one(args, kind, seed)
            tally.setdefault(kind, {}).setdefault(verdict, 0)
            tally[kind][verdict] += 1
    for kind, counts in tally.items():
        print(kind, counts)
    untested = [kind for kind, counts in tally.items() if not set(counts) - {"skip"}]
    if untested or not tally:
        print("nothing was tested of:", ", ".join(untested) or "any kind")
        return 1
    return int(any(set(counts) - {"ok", "skip"} for counts in tally.values()))


if __name__ == "__main__":
    sys.exit(main())
