"""For heddle capture: FlashAttention 4's forward (flash_attn/cute of Dao-AILab/flash-attention). Needs torch, nvidia-cutlass-dsl, quack-kernels, einops.

    flash_attention_4.py TREE [causal]
"""

import sys
import types

import torch

tree, *words = sys.argv[1:]
package = types.ModuleType("flash_attn")  # its own __init__ wants FlashAttention 2, which has to be compiled
package.__path__ = [f"{tree}/flash_attn"]
sys.modules["flash_attn"] = package
from flash_attn.cute.interface import _flash_attn_fwd  # noqa: E402

batch, length, heads, head = 2, 1024, 4, 128
q, k, v = (torch.empty(batch, length, heads, head, dtype=torch.bfloat16, device="cuda") for _ in range(3))
_flash_attn_fwd(q, k, v, causal="causal" in words)
