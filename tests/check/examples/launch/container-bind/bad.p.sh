#!/bin/bash
P=
srun apptainer exec --bind=$P x.sif python t.py
