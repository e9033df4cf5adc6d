#!/bin/bash
#SBATCH --time=2:00
