#!/bin/bash
srun apptainer exec -B :/b x.sif python t.py
