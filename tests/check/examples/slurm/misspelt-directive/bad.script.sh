#!/bin/bash
#!SBATCH -n 2
