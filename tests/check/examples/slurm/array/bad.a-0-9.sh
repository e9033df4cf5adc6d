#!/bin/bash
#SBATCH -a=0-9
