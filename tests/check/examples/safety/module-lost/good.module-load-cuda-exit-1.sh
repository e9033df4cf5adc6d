#!/bin/bash
module load cuda || exit 1
