#!/bin/bash
#SBATCH --gpus-per-node=2
uv run python qwen_grpo.py
