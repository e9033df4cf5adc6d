#!/bin/bash
#SBATCH --time=0-12:30
