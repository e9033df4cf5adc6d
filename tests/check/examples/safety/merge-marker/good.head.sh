#!/bin/bash
# <<<<<<< HEAD
