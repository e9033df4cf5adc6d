#!/bin/bash
#SBATCH --requeue=1
