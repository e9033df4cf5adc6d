#!/bin/bash
source ~/miniforge3/etc/profile.d/conda.sh
conda init
conda activate x
