#!/bin/bash
#SBATCH --nodes=2 : --nodes=1
