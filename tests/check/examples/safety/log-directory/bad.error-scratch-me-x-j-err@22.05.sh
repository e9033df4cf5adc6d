#!/bin/bash
#SBATCH --error=/scratch/me/%x/%j.err
