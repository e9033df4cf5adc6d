#!/bin/bash
singularity exec x.sif bash -c 'module load anaconda3; source /share/apps/anaconda3/etc/profile.d/conda.sh; python t.py'
