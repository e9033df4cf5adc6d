#!/bin/bash
#SBATCH -t 90
