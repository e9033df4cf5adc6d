#!/bin/bash
#SBATCH --nodes=1 --mem-per-gpu=32G
