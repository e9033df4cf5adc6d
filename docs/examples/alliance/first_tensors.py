# SPDX-License-Identifier: MIT
"""Two tensors, on the GPU where there is one: the first job on a cluster."""
import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.ones(5, 3, device=device)
y = torch.rand(5, 3, device=device)
print("torch", torch.__version__, "on", device)
print("sum", x + y)
