#!/bin/bash
module load miniconda3
source "$CONDA_PREFIX/etc/profile.d/conda.sh"
conda activate x
