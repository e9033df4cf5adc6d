#!/bin/bash
: note
#SBATCH--nodes=2
