#!/bin/bash
#SBATCH --account=YOUR_PROJECT
