#!/bin/bash
module load pytorch
srun python t.py
