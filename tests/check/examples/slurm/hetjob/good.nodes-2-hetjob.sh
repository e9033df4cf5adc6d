#!/bin/bash
#SBATCH --nodes=2 # hetjob
