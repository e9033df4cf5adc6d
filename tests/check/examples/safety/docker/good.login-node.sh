#!/bin/bash
docker run image python train.py
