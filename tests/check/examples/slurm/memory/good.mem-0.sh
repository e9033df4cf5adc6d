#!/bin/bash
#SBATCH --mem=0
