#!/bin/bash
#SBATCH --mem-per-gpu=all
