#!/bin/bash
#SBATCH --tasks-per-node=4
