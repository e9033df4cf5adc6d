#!/bin/bash
N=$(srun hostname | sort -u | wc -l)
