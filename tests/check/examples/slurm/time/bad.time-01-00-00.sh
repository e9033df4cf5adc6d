#!/bin/bash
#SBATCH --time= 01:00:00
