#!/bin/bash
#SBATCH --job-name={name}
