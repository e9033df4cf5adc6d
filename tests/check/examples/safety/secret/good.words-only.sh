#!/bin/bash
export HF_TOKEN=hf_PutYourOwnAccessTokenHereBeforeStart
