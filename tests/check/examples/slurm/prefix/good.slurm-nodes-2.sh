#!/bin/bash
##SLURM --nodes=2
