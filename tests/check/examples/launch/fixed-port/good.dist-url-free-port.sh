#!/bin/bash
#SBATCH --nodes=1 --gpus-per-node=4
python main.py --dist-url tcp://localhost:FREEPORT --multiprocessing-distributed
