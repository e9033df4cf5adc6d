#!/bin/bash
#SBATCH --nodes=2 --test-only
