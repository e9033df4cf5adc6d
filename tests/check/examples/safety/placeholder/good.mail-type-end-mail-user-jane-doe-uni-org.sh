#!/bin/bash
#SBATCH --mail-type=END --mail-user=<jane.doe@uni.org>
