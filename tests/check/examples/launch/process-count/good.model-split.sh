#!/bin/bash
#SBATCH --nodes=1 --ntasks-per-node=1 --gpus-per-node=2 --time=10
srun accelerate launch --num_machines=1 --num_processes=1 eval.py --model_args=pretrained=x,model_parallel=True
