#!/bin/bash
#SBATCH --time=10
pip install torch
