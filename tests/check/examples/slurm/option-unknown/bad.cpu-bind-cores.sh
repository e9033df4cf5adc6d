#!/bin/bash
#SBATCH --cpu-bind=cores
