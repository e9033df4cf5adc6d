#!/bin/bash
#SBATCH --time=10 # ten minutes
