#!/bin/bash
set -u
rm -rf $SCRATCH/*
