#!/bin/bash
#SBATCH --time=0:45:00
