#!/bin/bash
#SBATCH -t 10
rm -rf $SCRATCH/data
