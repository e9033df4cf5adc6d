#!/bin/bash
srun apptainer exec -B /a, /b x.sif python t.py
