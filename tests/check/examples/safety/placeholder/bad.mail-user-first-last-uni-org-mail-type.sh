#!/bin/bash
#SBATCH --mail-user=<first>.<last>@uni.org --mail-type=END
