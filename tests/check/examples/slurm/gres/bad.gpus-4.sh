#!/bin/bash
#SBATCH --gpus = 4
