#!/bin/bash
#SBATCH -o logs/%j.out -e logs/%j.err
mkdir -p logs
