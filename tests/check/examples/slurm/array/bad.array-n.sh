#!/bin/bash
#SBATCH --array=N
