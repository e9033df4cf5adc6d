#!/bin/bash
exec python train.py
