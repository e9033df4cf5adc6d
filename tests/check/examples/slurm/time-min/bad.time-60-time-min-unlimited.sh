#!/bin/bash
#SBATCH --time=60 --time-min=UNLIMITED
