#!/bin/bash
rm -rf "$TMPDIR"/*
