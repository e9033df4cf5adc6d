#!/bin/bash
#SBATCH --gres=gpu:4
#SBATCH --gres=nvme:100
