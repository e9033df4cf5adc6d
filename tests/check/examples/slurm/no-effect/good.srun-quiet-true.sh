#!/bin/bash
srun --quiet true
