#!/bin/bash
#SBATCH --job-name=run_$(date)
