#!/bin/bash
#SBATCH --exclusive
