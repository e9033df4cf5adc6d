#!/bin/bash
set -eu
last=$(ls checkpoints/*.pt 2>/dev/null | tail -n 1)
python train.py --resume "$last"
