#!/bin/bash
#SBATCH --mail-type=END
