#!/bin/bash
#SBATCH -o ${SCRATCH}/x.log
