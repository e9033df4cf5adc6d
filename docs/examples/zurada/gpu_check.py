# SPDX-License-Identifier: MIT
"""What torch sees of the GPUs. Where it sees none: hpcml doctor says why."""
import sys

import torch

count = torch.cuda.device_count() if torch.cuda.is_available() else 0
print("torch", torch.__version__, "built for CUDA", torch.version.cuda, "or ROCm", torch.version.hip)
print("GPUs:", count, *(torch.cuda.get_device_name(i) for i in range(count)))
sys.exit(0 if count else 1)
