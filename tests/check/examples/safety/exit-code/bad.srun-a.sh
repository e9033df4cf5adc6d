#!/bin/bash
srun ./a
date
