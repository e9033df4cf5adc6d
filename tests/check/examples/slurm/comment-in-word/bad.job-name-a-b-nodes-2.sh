#!/bin/bash
#SBATCH --job-name=a#b --nodes=2
