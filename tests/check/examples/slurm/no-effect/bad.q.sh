#!/bin/bash
#SBATCH -Q
