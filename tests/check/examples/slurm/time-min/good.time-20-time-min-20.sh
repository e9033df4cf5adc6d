#!/bin/bash
#SBATCH --time=20 --time-min=20
