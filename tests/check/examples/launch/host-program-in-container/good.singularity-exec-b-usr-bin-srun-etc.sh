#!/bin/bash
singularity exec -B /usr/bin/srun,/etc/slurm,/run/munge x.sif srun python t.py
