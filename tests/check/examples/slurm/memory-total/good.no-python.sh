#!/bin/bash
#SBATCH --mem=64
echo done
