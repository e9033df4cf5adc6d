#!/bin/bash
#SBATCH --job-name=hetjob
