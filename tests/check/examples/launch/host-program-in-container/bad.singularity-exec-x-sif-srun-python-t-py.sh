#!/bin/bash
singularity exec x.sif srun python t.py
