#!/bin/bash
#SBATCH --time=10
python -m benchmark.suite --all 2>&1 | tail -n 50
date
