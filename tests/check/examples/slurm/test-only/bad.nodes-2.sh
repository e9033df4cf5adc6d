#!/bin/bash
#SBATCH --nodes=2
#SBATCH --test-only # remove later
