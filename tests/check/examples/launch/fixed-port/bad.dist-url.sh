#!/bin/bash
#SBATCH --nodes=1 --gpus-per-node=4
python main.py --dist-url tcp://localhost:10001 --multiprocessing-distributed --world-size 1 --rank 0
