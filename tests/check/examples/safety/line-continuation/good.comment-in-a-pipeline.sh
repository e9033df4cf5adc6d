#!/bin/bash
#SBATCH --time=10
zcat data.gz | \
  # numbers only
  grep 1 > x
