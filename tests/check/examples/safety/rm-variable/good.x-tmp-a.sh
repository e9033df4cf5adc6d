#!/bin/bash
X=/tmp/a
rm -rf $X/*
