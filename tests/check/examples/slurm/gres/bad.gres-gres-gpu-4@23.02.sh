#!/bin/bash
#SBATCH --gres=gres/gpu:4
