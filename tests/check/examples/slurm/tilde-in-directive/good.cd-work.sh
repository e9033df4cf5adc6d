#!/bin/bash
cd ~/work
