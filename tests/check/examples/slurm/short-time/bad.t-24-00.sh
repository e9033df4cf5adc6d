#!/bin/bash
#SBATCH -t 24:00
