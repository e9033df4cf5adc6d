#!/bin/bash
#SBATCH -N 2 --nodes=3
