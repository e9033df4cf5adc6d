#!/bin/bash
#SBATCH --ntasks=4
python prepare.py
./solve_all
