#!/bin/bash
#SBATCH --job-name=packjob
