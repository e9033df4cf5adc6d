#!/bin/bash
#SBATCH --nodes=4
python dyna_model.py
