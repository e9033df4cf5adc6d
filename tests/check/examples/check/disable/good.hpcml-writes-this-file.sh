#!/bin/bash
# hpcml writes this file
srun true
