#!/bin/bash
#SBATCH --mail-type=ALWAYS
