# SPDX-License-Identifier: MIT
"""How wrong a product of fp32 matrices is with Python's torch; see gpu_rank.cpp."""
import torch

torch.manual_seed(1)
a, b = (torch.randn(1024, 1024, device="cuda", dtype=torch.float64) for _ in range(2))
exact = a @ b
fast = (a.float() @ b.float()).double()
print(((fast - exact).norm() / exact.norm()).item())
