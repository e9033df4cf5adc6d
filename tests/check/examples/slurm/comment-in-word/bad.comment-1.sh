#!/bin/bash
#SBATCH --comment=#1
