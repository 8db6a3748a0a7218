"""Gradients of an exported forward kernel by an exported backward kernel, on CPUs: what the kernels compute is PyTorch's own formula here, all else
is the packages'.

    gradients.py FORWARD BACKWARD    folders that heddle emit wrote, built and on Python's path
"""

import importlib.util
import pathlib
import sys

import torch
import torch.nn.functional as F


def package(folder):
    """The package's module; its operator runs on CPUs, by the formula of its test."""
    path = next(pathlib.Path(folder, "tests").glob("test_*.py"))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    test = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(test)

    def implementation(*given):
        wanted = test.reference(*given)
        for tensor, value in zip(test.OPERATOR.given, given):
            if tensor.written:
                value.add_(test._packing.packed(wanted[tensor.name], tensor.packed) if tensor.packed else wanted[tensor.name])
        made = tuple(tensor.empty(given[0], wanted[tensor.name].shape).copy_(wanted[tensor.name]) for tensor in test.OPERATOR.made)
        return made[0] if len(made) == 1 else made or None

    torch.library.impl("heddle::" + test.OPERATOR.name, "CPU")(implementation)
    return sys.modules["heddle_" + test.OPERATOR.name]


def close(computed, expected, what):
    error = (computed.double() - expected.double()).norm() / expected.double().norm()
    print(f"{what}: {error:.1e}")
    assert computed.dtype == expected.dtype and error < 2e-2, what


def expect(error, call):
    try:
        call()
    except error as found:
        return print(f"{error.__name__}: {found}")
    raise AssertionError(f"no {error.__name__}")


def main(forward_folder, backward_folder):
    forward, backward = package(forward_folder), package(backward_folder)
    expect(ValueError, lambda: forward.differentiate(forward.OPERATOR, forward.OPERATOR))
    forward.differentiate(forward.OPERATOR, backward.OPERATOR)
    run = getattr(torch.ops.heddle, forward.OPERATOR.name)
    torch.manual_seed(1)
    # dQ may be packed: whole blocks of 64 rows.
    Q, K, V = (torch.randn(2, length, 128).to(torch.bfloat16).requires_grad_() for length in (192, 256, 256))
    dO = torch.randn(2, 192, 128).to(torch.bfloat16)
    expected = torch.autograd.grad(F.scaled_dot_product_attention(Q, K, V), (Q, K, V), dO)
    compiled = torch.compile(lambda *given: run(*given), fullgraph=True, backend="aot_eager")
    for how, function in ("by itself", run), ("compiled", compiled):
        O, LSE = function(Q, K, V)
        for name, computed, right in zip("QKV", torch.autograd.grad(O, (Q, K, V), dO), expected):
            close(computed, right, f"d{name} {how}")
    scaled = F.scaled_dot_product_attention(Q, K, V, scale=0.05)
    for name, computed, right in zip("QKV", torch.autograd.grad(run(Q, K, V, 0.05)[0], (Q, K, V), dO), torch.autograd.grad(scaled, (Q, K, V), dO)):
        close(computed, right, f"d{name} with a scale")
    O, LSE = run(Q, K, V)
    one = torch.autograd.grad(O.sum(), V, retain_graph=True)[0]  # the gradient of a sum has no memory of its own
    close(one, torch.autograd.grad(F.scaled_dot_product_attention(Q, K, V).sum(), V)[0], "dV of a sum")
    Q, K, V = (torch.randn(2, length, 128).to(torch.bfloat16).requires_grad_() for length in (127, 1, 1))
    close(torch.autograd.grad(run(Q, K, V)[0].sum(), V)[0], torch.full_like(V, 127), "dV of odd lengths")
    assert not LSE.requires_grad  # the backward kernel takes no gradient of it
    torch.library.opcheck(run.default, (Q, K, V))


main(*sys.argv[1:])
