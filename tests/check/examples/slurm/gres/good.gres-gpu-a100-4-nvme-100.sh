#!/bin/bash
#SBATCH --gres=gpu:a100:4,nvme:100
