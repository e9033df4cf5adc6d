#!/bin/bash
#SBATCH --chdir=/tmp
