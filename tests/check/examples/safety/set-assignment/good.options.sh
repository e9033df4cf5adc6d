#!/bin/bash
set -euo pipefail
srun python train.py
