#!/bin/bash
#SBATCH --mem-per-cpu=4gb
