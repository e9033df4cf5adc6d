#!/bin/bash
#SBATCH --nodes=2 --mail-user=a@b.org
