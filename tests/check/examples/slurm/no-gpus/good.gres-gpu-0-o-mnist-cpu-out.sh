#!/bin/bash
#SBATCH --gres=gpu:0 -o mnist_cpu.out
singularity exec --nv a.sif python mnist.py
