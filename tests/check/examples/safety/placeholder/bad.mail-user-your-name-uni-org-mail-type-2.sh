#!/bin/bash
#SBATCH --mail-user=<your.name@uni.org> --mail-type=END
