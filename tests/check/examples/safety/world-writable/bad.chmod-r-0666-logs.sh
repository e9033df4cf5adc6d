#!/bin/bash
chmod -R 0666 logs/*
