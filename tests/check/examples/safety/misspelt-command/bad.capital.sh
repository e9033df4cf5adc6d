#!/bin/bash
Module load cuda/12.1
pyhton train.py
