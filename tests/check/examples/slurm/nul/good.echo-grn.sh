#!/bin/bash
echo "grün"
