#!/bin/bash
#SBATCH -N 2
