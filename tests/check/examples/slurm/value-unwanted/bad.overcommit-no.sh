#!/bin/bash
#SBATCH --overcommit=no
