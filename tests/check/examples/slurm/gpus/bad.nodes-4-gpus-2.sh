#!/bin/bash
#SBATCH --nodes=4 --gpus=2
