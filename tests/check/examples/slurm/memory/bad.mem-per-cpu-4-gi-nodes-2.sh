#!/bin/bash
#SBATCH --mem-per-cpu=4 Gi --nodes = 2
#SBATCH --mem-per-cpu=Gi
