#!/bin/bash
#SBATCH --cluster gpu
