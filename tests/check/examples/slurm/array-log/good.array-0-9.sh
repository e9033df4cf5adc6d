#!/bin/bash
#SBATCH --array=0-9
