#!/bin/bash
#SBATCH --gres=gpu:a100:4,gpu:2
