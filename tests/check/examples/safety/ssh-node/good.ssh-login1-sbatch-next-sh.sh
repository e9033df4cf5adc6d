#!/bin/bash
ssh login1 sbatch next.sh
