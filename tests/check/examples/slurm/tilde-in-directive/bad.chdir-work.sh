#!/bin/bash
#SBATCH --chdir=~/work
