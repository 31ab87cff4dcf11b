"""PyTorch modules for the tests of export_pytorch. Only what uses them imports torch, which takes seconds."""

import numpy as np
import torch
from torch import nn


class Mlp(nn.Module):
    """Two inputs, two outputs."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(32, 48), nn.Linear(48, 16)

    def forward(self, x, shift):
        hidden = torch.relu(self.first(x)) + shift
        return self.second(hidden), hidden


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16)
        self.depthwise, self.head = nn.Conv2d(16, 16, 3, groups=16), nn.Linear(16, 10)
        self.norm.running_mean.uniform_(-1, 1)
        self.norm.running_var.uniform_(0.5, 2)

    def forward(self, x):
        x = nn.functional.max_pool2d(torch.relu(self.norm(self.conv(x))), 2)
        return self.head(torch.relu(self.depthwise(x)).mean((2, 3)))


class Transformer(nn.Module):
    """A block of a decoder whose embedding is also its head."""

    def __init__(self, words=60, width=32, heads=4):
        super().__init__()
        self.heads = heads
        self.embedding = nn.Embedding(words, width)
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, ids):
        x = self.embedding(ids)
        batch, length, width = x.shape
        q, k, v = (part.reshape(batch, length, self.heads, -1).transpose(1, 2)
                   for part in self.qkv(self.before(x)).chunk(3, -1))
        attended = nn.functional.scaled_dot_product_attention(q, k, v)
        x = x + self.out(attended.transpose(1, 2).reshape(batch, length, width))
        return self.head(x + self.down(nn.functional.gelu(self.up(self.after(x)))))


class Buffers(nn.Module):
    """Hands out tensors of any type, and adds the last of them to x."""

    def __init__(self, **tensors):
        super().__init__()
        for name, tensor in tensors.items():
            self.register_buffer(name, tensor)
        self.names = list(tensors)

    def forward(self, x):
        return x + 1, *(getattr(self, name).clone() for name in self.names)


def made(kind):
    """A module in evaluation mode, two sets of arguments of other batch sizes, and the names of inputs and outputs."""
    torch.manual_seed(0)
    module = {"mlp": Mlp, "cnn": Cnn, "transformer": Transformer}[kind]().eval()
    args = {
        "mlp": lambda n: (torch.randn(n, 32), torch.randn(n, 48)),
        "cnn": lambda n: (torch.randn(n, 3, 12, 12),),
        "transformer": lambda n: (torch.randint(0, 60, (n, 7)),),
    }[kind]
    names = {"mlp": (["x", "shift"], ["y", "hidden"]), "cnn": (["image"], ["scores"]),
             "transformer": (["ids"], ["logits"])}[kind]
    return module, args(2), args(5), names


def elements(tensor):
    """The bytes of a tensor's elements in row-major order."""
    return tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


def expected(module, args):
    """What the module computes, in double."""
    wide = tuple(arg.double() if arg.is_floating_point() else arg for arg in args)
    with torch.no_grad():
        results = module.double()(*wide)
    module.float()
    return [result.numpy() for result in (results if isinstance(results, tuple) else (results,))]


def assert_close(actual, wanted):
    """Within a rounding of float for each of the at most 500 terms of the longest chain of sums."""
    assert len(actual) == len(wanted)
    for a, w in zip(actual, wanted):
        assert a.shape == w.shape
        assert np.abs(a - w).max() <= 500 * np.finfo(np.float32).eps * np.abs(w).max()
