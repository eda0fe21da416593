"""One published architecture, timed: a PyTorch program that `benchmarks.ecosystem` runs.

    python case.py NAME                with PyTorch
    graphwright run case.py NAME       without

Prints JSON: seconds of a call eagerly ("eager"), of the first compiled call ("first") and of later
ones ("compiled"), and a sample of each kind of result ("values", of eager; "compiled values").
"""

import json
import sys
import time
from statistics import median

import torch


def bert():
    from transformers import BertConfig, BertModel

    return BertModel(BertConfig()), {"input_ids": tokens(30522, 128)}


def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel

    return GPT2LMHeadModel(GPT2Config()), {"input_ids": tokens(50257, 128)}


def llama():
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=8192, hidden_size=576, intermediate_size=1536, num_hidden_layers=30,
        num_attention_heads=9, num_key_value_heads=3)
    x = tokens(8192, 64)
    return LlamaForCausalLM(config), {"input_ids": x, "labels": x, "use_cache": False}


def t5():
    from transformers import T5Config, T5ForConditionalGeneration

    return T5ForConditionalGeneration(T5Config(decoder_start_token_id=0)), {
        "input_ids": tokens(32128, 32)}


def vit():
    from transformers import ViTConfig, ViTModel

    return ViTModel(ViTConfig()), {"pixel_values": image()}


def resnet18():
    import timm

    return timm.create_model("resnet18"), {"x": image()}


def mobilenetv3():
    import timm

    return timm.create_model("mobilenetv3_large_100"), {"x": image()}


CASES = {case.__name__: case for case in (bert, gpt2, llama, t5, vit, resnet18, mobilenetv3)}
ROUNDS = 9


def tokens(vocabulary, length):
    return (torch.arange(length) * 7919 % vocabulary)[None]


def image():
    return torch.sin(torch.arange(3 * 224 * 224, dtype=torch.float32) * 0.37).view(1, 3, 224, 224)


@torch.no_grad()
def set_weights(model):
    """The same weights in both libraries, whose random generators differ."""
    for number, (name, weight) in enumerate(model.named_parameters()):
        if name.endswith("bias"):
            weight.zero_()
        elif weight.dim() > 1:
            steps = torch.arange(weight.numel(), dtype=torch.float64)
            wave = torch.sin(steps * 12.9898 + torch.sin(steps * 0.731) * 43.7 + number)
            weight.copy_((wave * weight[0].numel() ** -0.5).to(weight.dtype).view_as(weight))


def run(name, model, inputs):
    """One call of the case; its result, as numbers."""
    if name == "llama":
        model.zero_grad(set_to_none=True)
        loss = model(**inputs).loss
        loss.backward()
        return torch.stack([loss.detach(), *(p.grad.norm() for p in model.parameters())])
    with torch.no_grad():
        if name == "t5":
            return model.generate(**inputs, max_new_tokens=32, min_new_tokens=32, do_sample=False)
        result = model(**inputs)
        return result if isinstance(result, torch.Tensor) else result[0]


def sample(result):
    flat = result.detach().double().flatten()
    return flat[:: max(1, len(flat) // 64)].tolist()


def seconds(call):
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return median(times[1:])


def main():
    name = sys.argv[1]
    model, inputs = CASES[name]()
    model.eval()
    set_weights(model)
    found = {"values": sample(run(name, model, inputs)),
             "eager": seconds(lambda: run(name, model, inputs))}
    model.forward = torch.compile(model.forward)
    start = time.perf_counter()
    result = run(name, model, inputs)
    found["first"] = time.perf_counter() - start
    found["compiled values"] = sample(result)
    found["compiled"] = seconds(lambda: run(name, model, inputs))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
