#!/bin/bash
#SBATCH --ntasks=4 --distribution=arbitrary
