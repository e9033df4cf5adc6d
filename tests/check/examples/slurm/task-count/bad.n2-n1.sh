#!/bin/bash
#SBATCH -N2 -n1
