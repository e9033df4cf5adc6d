#!/bin/bash
#SBATCH --output=/scratch/me/logs/%j.out
