#!/bin/bash
srun true
SBATCH --nodes=2
