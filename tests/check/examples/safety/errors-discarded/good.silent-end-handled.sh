#!/bin/bash
set -euo pipefail
last=$(ls checkpoints/*.pt 2>/dev/null | tail -n 1 || true)
python train.py --resume "$last"
