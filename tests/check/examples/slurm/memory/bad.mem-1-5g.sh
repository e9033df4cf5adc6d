#!/bin/bash
#SBATCH --mem=1.5G
