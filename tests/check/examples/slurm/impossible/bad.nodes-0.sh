#!/bin/bash
#SBATCH --nodes=0
