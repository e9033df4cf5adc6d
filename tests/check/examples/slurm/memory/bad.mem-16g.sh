#!/bin/bash
#SBATCH --mem= 16G
