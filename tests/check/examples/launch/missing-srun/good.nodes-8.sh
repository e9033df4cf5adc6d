#!/bin/bash
#SBATCH --nodes=8
export mpi_ranks=8
python parallel_gen.py
