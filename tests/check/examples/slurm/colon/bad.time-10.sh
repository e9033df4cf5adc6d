#!/bin/bash
#SBATCH --time :10
