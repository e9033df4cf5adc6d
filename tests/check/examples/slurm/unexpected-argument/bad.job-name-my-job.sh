#!/bin/bash
#SBATCH --job-name=my job
