#!/bin/bash
#SBATCH --requeue
