#!/bin/bash
#SBATCH --time=23:59
