#!/bin/bash
printf 'a\r\n'
