#!/bin/bash
#SBATCH --ntasks=8;
