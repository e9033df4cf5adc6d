#!/bin/bash
srun true
