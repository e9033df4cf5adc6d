#!/bin/bash
#SBATCH --time=UNLIMITED
