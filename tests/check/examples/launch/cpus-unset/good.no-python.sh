#!/bin/bash
#SBATCH --gres=gpu:1
./simulate
