#!/bin/bash
#SBATCH --time=10:00 (1)
