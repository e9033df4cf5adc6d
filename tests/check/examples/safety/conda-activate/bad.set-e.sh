#!/usr/bin/env bash
set -e
conda activate x
