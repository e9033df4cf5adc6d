#!/bin/bash
#SBATCH -p gpu_shared --gres=gpu:0
module load CUDA/10.1.243 cuDNN/7.6.5.32-CUDA-10.1
python main.py --num_cpus 2
