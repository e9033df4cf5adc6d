#!/bin/bash
#SBATCH --cpus-per-gpu=8
