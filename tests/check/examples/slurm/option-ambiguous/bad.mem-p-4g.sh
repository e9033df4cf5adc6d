#!/bin/bash
#SBATCH --mem-p=4G
