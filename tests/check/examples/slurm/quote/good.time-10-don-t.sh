#!/bin/bash
#SBATCH --time=10 # don't
