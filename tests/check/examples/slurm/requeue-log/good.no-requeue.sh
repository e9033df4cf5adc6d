#!/bin/bash
#SBATCH --no-requeue
