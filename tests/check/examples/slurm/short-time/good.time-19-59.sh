#!/bin/bash
#SBATCH --time=19:59
