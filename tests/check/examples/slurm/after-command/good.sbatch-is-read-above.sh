#!/bin/bash
srun true
# SBATCH is read above
