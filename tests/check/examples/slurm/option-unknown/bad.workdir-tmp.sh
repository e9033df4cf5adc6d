#!/bin/bash
#SBATCH --workdir=/tmp
